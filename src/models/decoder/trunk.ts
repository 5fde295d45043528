import type { Tensor } from '../../engine/runtime/index.ts';
import { tensor } from '../../engine/runtime/index.ts';
import type { BaseModel, LayerRole } from './base-model.ts';
import {
  type ForwardOptions,
  forward,
  frozenLayers,
  type LayerStates,
  type Pass,
} from './forward.ts';
import { PackedBatch } from './packed-batch.ts';

/** Rows of a matrix that hold the hidden states of a sequence. */
interface StoredRows {
  readonly hidden: Tensor<'float32'>;
  readonly rows: Int32Array;
}

/**
 * Hidden states of the layers that several roles share. Below a role's first adapted layer they are
 * those of the base, which never changes, and a token's state depends only on the tokens up to it. So each
 * sequence runs through these layers once for all roles, micro-batches and epochs of a step.
 */
export class Trunk {
  readonly base: BaseModel;
  /** Numbers of layers after which states are stored, ascending. */
  private readonly borders: readonly number[];
  /** Stored states by the tokens of a sequence, then by border. */
  private readonly stored = new Map<string, Map<number, StoredRows>>();

  constructor(base: BaseModel, borders: Iterable<number>) {
    this.base = base;
    this.borders = [...new Set(borders)].sort((a, b) => a - b);
  }

  /** The trunk of the roles over a base; undefined if all of them adapt the first layer. */
  static of(base: BaseModel, roles: readonly LayerRole[]): Trunk | undefined {
    const borders = roles
      .filter((role) => role.base === base)
      .map(frozenLayers)
      .filter((border) => border > 0);
    return borders.length === 0 ? undefined : new Trunk(base, borders);
  }

  /** Hidden states of a batch's rows after the first `layer` layers of the base. Layers run only for
   *  sequences without stored states, from their highest border on. */
  async states(layer: number, batch: PackedBatch): Promise<Tensor<'float32'>> {
    const sequences = sequencesOf(batch);
    if (!this.borders.includes(layer)) return this.run(layer, { batch, sequences });
    const missing = sequences.filter((tokens) => this.find(tokens, layer) === undefined);
    if (missing.length > 0) {
      const isWhole = missing.length === sequences.length;
      const part = isWhole ? batch : new PackedBatch(missing, { share: true });
      await this.run(layer, { batch: part, sequences: missing });
    }
    return this.gather(layer, { batch, sequences });
  }

  /** Runs a batch up to a layer, and stores its states at the borders on the way. */
  private async run(layer: number, work: TrunkWork): Promise<Tensor<'float32'>> {
    const { batch, sequences } = work;
    const isKnown = (border: number) =>
      border < layer && sequences.every((tokens) => this.find(tokens, border) !== undefined);
    const known = this.borders.findLast(isKnown);
    let start: LayerStates | undefined =
      known === undefined ? undefined : { layer: known, hidden: this.gather(known, work) };
    const ends = this.borders.filter((border) => border > (known ?? 0) && border < layer);
    for (const end of [...ends, layer]) {
      const { hidden } = await forward({ base: this.base }, batch, { start, end });
      if (this.borders.includes(end)) this.store(end, { ...work, hidden });
      start = { layer: end, hidden };
    }
    return start!.hidden;
  }

  private store(
    border: number,
    { batch, sequences, hidden }: TrunkWork & { readonly hidden: Tensor<'float32'> },
  ) {
    for (const [i, tokens] of sequences.entries()) {
      const key = tokens.join();
      const byBorder = this.stored.get(key) ?? new Map<number, StoredRows>();
      this.stored.set(key, byBorder.set(border, { hidden, rows: batch.rows[i]! }));
    }
  }

  private find(tokens: Int32Array, border: number): StoredRows | undefined {
    return this.stored.get(tokens.join())?.get(border);
  }

  /** Copies stored states into the rows of a batch. */
  private gather(border: number, { batch, sequences }: TrunkWork): Tensor<'float32'> {
    const width = this.base.architecture.config.hidden_size;
    const states = new Float32Array(batch.tokens.length * width);
    for (const [i, tokens] of sequences.entries()) {
      const { hidden, rows } = this.find(tokens, border)!;
      for (const [t, row] of batch.rows[i]!.entries()) {
        const from = rows[t]! * width;
        states.set(hidden.data.subarray(from, from + width), row * width);
      }
    }
    return tensor(states, [batch.tokens.length, width]);
  }
}

/** A batch and the tokens of its sequences. */
interface TrunkWork {
  readonly batch: PackedBatch;
  readonly sequences: readonly Int32Array[];
}

function sequencesOf({ rows, tokens }: PackedBatch): Int32Array[] {
  return rows.map((places) => places.map((row) => tokens[row]!));
}

export interface TrunkForwardOptions extends Omit<ForwardOptions, 'start' | 'end'> {
  /** States that the role shares with others; without it, all layers run. */
  readonly trunk?: Trunk | undefined;
}

/** Runs a batch through a role: its frozen layers once per trunk, the others now. */
export async function forwardFromTrunk(
  role: LayerRole,
  batch: PackedBatch,
  { trunk, ...options }: TrunkForwardOptions = {},
): Promise<Pass> {
  const { base, adapter } = role;
  const layers = base.architecture.config.num_hidden_layers;
  const layer = adapter === undefined ? layers : frozenLayers(role);
  if (trunk === undefined || trunk.base !== base || layer === 0)
    return forward(role, batch, options);
  const hidden = await trunk.states(layer, batch);
  return forward(role, batch, { ...options, start: { layer, hidden } });
}
