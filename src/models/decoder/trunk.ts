import type { Tensor } from '../../engine/runtime/index.ts';
import { freeTensors } from '../../engine/runtime/index.ts';
import type { BaseModel, LayerRole } from './base-model.ts';
import { type ForwardOptions, forward, frozenLayers } from './forward.ts';
import { PackedBatch } from './packed-batch.ts';
import {
  freeRowPass,
  freeTape,
  type LayerStates,
  type Pass,
  passOfRows,
  type RowPass,
} from './pass.ts';
import { promptsFirst } from './row-layout.ts';

/** Rows of a matrix that hold the hidden states of a sequence. */
interface StoredRows {
  readonly hidden: Tensor<'float32'>;
  readonly rows: Int32Array;
}

/** A prompt whose lower layers have run. */
interface KnownPrompt {
  readonly tokens: Int32Array;
  /** Per border, the pass from the border below: states, keys and values. */
  readonly passes: Map<number, RowPass>;
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
  /** Prompts that generation ran, by their tokens. */
  private readonly prompts = new Map<string, KnownPrompt>();

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
   *  sequences without stored states. */
  async states(layer: number, batch: PackedBatch): Promise<Tensor<'float32'>> {
    if (!this.borders.includes(layer)) {
      const start = await this.statesBelow(layer, batch);
      return (await forward({ base: this.base }, batch, { start, end: layer })).hidden;
    }
    const sequences = sequencesOf(batch);
    const missing = sequences.filter((tokens) => this.find(tokens, layer) === undefined);
    const isWhole = missing.length === sequences.length;
    if (missing.length > 0) await this.run(layer, missing, isWhole ? batch : undefined);
    return this.gather(layer, { batch, sequences });
  }

  /** Runs prompts through the layers that a role shares with others, and keeps their states, keys and
   *  values: the sequences that continue them run only their own tokens. */
  async runPrompts(
    role: LayerRole,
    batch: PackedBatch,
    onKeysAndValues: NonNullable<ForwardOptions['onKeysAndValues']>,
  ): Promise<LayerStates | undefined> {
    let start: LayerStates | undefined;
    if (role.base !== this.base) return start;
    const prompts = sequencesOf(batch).map((tokens) => this.promptOf(tokens));
    for (const end of this.borders.filter((border) => border <= frozenLayers(role))) {
      const pass = await forward({ base: this.base }, batch, { start, end, onKeysAndValues });
      for (const [i, { passes }] of prompts.entries()) {
        const rows = batch.rows[i]!;
        passes.set(end, await passOfRows(pass, { start: rows[0]!, end: rows.at(-1)! + 1 }));
      }
      freeTape(pass);
      start = { layer: end, hidden: pass.hidden };
    }
    return start;
  }

  /** Frees the states on their device; the trunk can be used again and then computes them anew. */
  free(): void {
    for (const byBorder of this.stored.values()) {
      for (const { hidden } of byBorder.values()) freeTensors(hidden);
    }
    for (const { passes } of this.prompts.values())
      for (const pass of passes.values()) freeRowPass(pass);
    this.stored.clear();
    this.prompts.clear();
  }

  /** Runs sequences up to a border and stores their states.
   *  @param packed a batch of these sequences, if there is one */
  private async run(
    border: number,
    sequences: readonly Int32Array[],
    packed: PackedBatch | undefined,
  ): Promise<void> {
    const { batch, prompts } = this.pack(sequences, packed);
    const passes = prompts.map((prompt) => prompt.passes.get(border));
    const past = passes.every((pass) => pass !== undefined) ? passes : [];
    const start = await this.statesBelow(border, batch);
    const pass = await forward({ base: this.base }, batch, { start, end: border, past });
    freeTape(pass);
    this.store(border, { batch, sequences, hidden: pass.hidden });
  }

  /** States at the highest border below a layer. */
  private async statesBelow(layer: number, batch: PackedBatch): Promise<LayerStates | undefined> {
    const border = this.borders.findLast((border) => border < layer);
    if (border === undefined) return undefined;
    return { layer: border, hidden: await this.states(border, batch) };
  }

  /** One batch of some sequences. If all of them continue known prompts, the rows of these come first. */
  private pack(
    sequences: readonly Int32Array[],
    packed = new PackedBatch(sequences, { share: true }),
  ) {
    const found = sequences.map((tokens) => this.findPrompt(tokens));
    const prompts = found.filter((prompt) => prompt !== undefined);
    if (prompts.length < sequences.length) return { batch: packed, prompts: [] };
    const layout = promptsFirst(
      prompts.map(({ tokens: prompt }, i) => ({
        prompt,
        own: sequences[i]!.length - prompt.length,
      })),
    );
    return { batch: new PackedBatch(sequences, { layout }), prompts: [...new Set(prompts)] };
  }

  /** The longest known prompt that a sequence continues. */
  private findPrompt(tokens: Int32Array): KnownPrompt | undefined {
    const lengths = new Set([...this.prompts.values()].map((prompt) => prompt.tokens.length));
    return [...lengths]
      .filter((length) => length < tokens.length)
      .sort((a, b) => b - a)
      .map((length) => this.prompts.get(tokens.subarray(0, length).join()))
      .find((prompt) => prompt !== undefined);
  }

  private promptOf(tokens: Int32Array): KnownPrompt {
    const key = tokens.join();
    const prompt = this.prompts.get(key) ?? { tokens, passes: new Map() };
    this.prompts.set(key, prompt);
    return prompt;
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
  private async gather(
    border: number,
    { batch, sequences }: TrunkWork,
  ): Promise<Tensor<'float32'>> {
    const { deviceRows } = this.base;
    const found = sequences.map((tokens) => this.find(tokens, border)!);
    const matrices = [...new Set(found.map(({ hidden }) => hidden))];
    const starts = new Map<Tensor, number>();
    let count = 0;
    for (const matrix of matrices) {
      starts.set(matrix, count);
      count += matrix.shape[0]!;
    }
    const places = new Int32Array(batch.tokens.length);
    for (const [i, { hidden, rows }] of found.entries()) {
      for (const [t, row] of batch.rows[i]!.entries()) places[row] = starts.get(hidden)! + rows[t]!;
    }
    const all = await deviceRows.concat(matrices);
    const states = await deviceRows.take(all, places);
    if (matrices.length > 1) freeTensors(all);
    return states;
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
