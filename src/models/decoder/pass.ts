import type { SaveList } from '../../engine/graph/index.ts';
import { type Feeds, freeTensors, type Tensor } from '../../engine/runtime/index.ts';
import type { LayerRole } from './base-model.ts';
import { freeFeeds } from './device-rows.ts';
import type { PackedBatch } from './packed-batch.ts';

/** Hidden states [M, hidden] of all rows of a batch after the first `layer` layers. */
export interface LayerStates {
  readonly layer: number;
  readonly hidden: Tensor<'float32'>;
}

/** Keys and values [M, kvHeads, D] of one layer. */
export interface KeysAndValues {
  readonly k: Tensor<'float32'>;
  readonly v: Tensor<'float32'>;
}

/** What a forward pass computed. */
export interface Pass {
  readonly role: LayerRole;
  readonly batch: PackedBatch;
  /** Hidden states after the last layer that ran, before the final norm, [M, hidden]. */
  readonly hidden: Tensor<'float32'>;
  /** Opaque to callers. `backward` consumes it if something was saved. */
  readonly tape: Tape;
}

/** Some rows of a pass, as `past` of another one. */
export interface RowPass {
  readonly hidden: Tensor<'float32'>;
  /** Per session: keys and values and, with a tape, its input x and the saved values. */
  readonly sessions: readonly Feeds[];
}

/** What a pass saved. */
interface Tape {
  readonly save: SaveList | undefined;
  readonly dropout: boolean;
  /** Per session from the first trained layer up: the values of each pass over some of the rows, in
   *  row order. */
  readonly sessions: (readonly Feeds[])[];
}

/** The part of a pass that computed some consecutive rows; in host memory, nothing is copied. */
export async function passOfRows(
  { role, hidden, tape }: Pass,
  rows: { readonly start: number; readonly end: number },
): Promise<RowPass> {
  const { deviceRows } = role.base;
  const sessions: Feeds[] = [];
  for (const [own] of tape.sessions) {
    const part: Record<string, Tensor> = {};
    for (const [name, value] of Object.entries(own!)) {
      part[name] = await deviceRows.slice(value as Tensor<'float32'>, rows);
    }
    sessions.push(part);
  }
  return { hidden: await deviceRows.slice(hidden, rows), sessions };
}

/** Frees the memory of a pass on its device, unless `backward` has consumed it. Passes over other rows
 *  that it continued stay valid. */
export function freePass(pass: Pass): void {
  freeTensors(pass.hidden);
  freeTape(pass);
}

/** Frees what a pass saved, and keeps its hidden states. */
export function freeTape({ tape }: Pick<Pass, 'tape'>): void {
  freeFeeds(...tape.sessions.map((parts) => parts.at(-1)!));
}

/** Frees the memory of some rows of a pass. */
export function freeRowPass({ hidden, sessions }: RowPass): void {
  freeTensors(hidden);
  freeFeeds(...sessions);
}
