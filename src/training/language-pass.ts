import type { LoraAdapter } from '../base-setup/lora/lora-adapter.ts';
import type { SaveList } from '../engine/graph/index.ts';
import type { RandomStream } from '../engine/random/index.ts';
import { takeRows } from '../models/decoder/take-rows.ts';
import { type BaseModel, PackedBatch } from '../models/index.ts';
import { embeddingGradients } from './embedding-gradients.ts';
import { runLanguageHead, trainLanguageHead } from './language-head.ts';
import { LayerPasses } from './layer-passes.ts';
import { putRows } from './response-rows.ts';
import type { RoleOptimizer } from './role-optimizer.ts';

/** A text and which of its tokens are learned. */
export interface LearnedText {
  readonly tokens: Int32Array;
  /** Places of the tokens that count in the loss; the first token never does. */
  readonly learned: Int32Array;
}

export interface LanguagePassOptions {
  readonly base: BaseModel;
  /** What is trained; without one, the base itself is. */
  readonly adapter?: LoraAdapter | undefined;
  readonly save?: SaveList;
}

export interface LanguageRun {
  /** Learned tokens of the whole optimiser step. */
  readonly tokenCount: number;
  readonly optimizer: RoleOptimizer;
  /** Where dropout masks come from; without it nothing is dropped. */
  readonly random?: RandomStream | undefined;
}

/** Forward, loss and backward of a language model over texts that run together, without padding. */
export class LanguagePass {
  private readonly options: LanguagePassOptions;
  private readonly layers: LayerPasses;

  constructor(options: LanguagePassOptions) {
    this.options = options;
    this.layers = new LayerPasses({ save: 'matmul', ...options });
  }

  /** Adds the gradients of L = −(1/N) Σ log π(learned token) to the optimiser; gives this part of L. */
  async run(texts: readonly LearnedText[], run: LanguageRun): Promise<number> {
    const { tokenCount, optimizer, random } = run;
    const { base, adapter } = this.options;
    const batch = packTexts(texts);
    const tape = await this.layers.forward(batch, random);
    const { rows, targets } = learnedRows(texts, batch);
    const learned = {
      hidden: takeRows(tape.hidden, rows),
      tokens: targets,
      weights: new Float32Array(rows.length).fill(1 / tokenCount),
    };
    const { loss, dHidden } =
      adapter === undefined
        ? await trainLanguageHead(base, learned, optimizer.add)
        : await runLanguageHead(base, learned);
    const dWhole = putRows(dHidden, rows, batch.tokens.length);
    const dx = await this.layers.backward(tape, dWhole, optimizer.add);
    if (adapter === undefined) optimizer.add(embeddingGradients(base, batch, dx));
    return loss;
  }
}

/** Texts for one run; what they have in common at the beginning stands once. */
export function packTexts(texts: readonly LearnedText[]): PackedBatch {
  return new PackedBatch(
    texts.map(({ tokens }) => tokens),
    { share: true },
  );
}

/** Rows of a packed batch that foresee the learned tokens, and those tokens.
 *  @example texts of tokens [5, 6, 7] learned at [1, 2] and [8, 9] learned at [1]
 *    →  rows [0, 1, 3], targets [6, 7, 9] */
export function learnedRows(
  texts: readonly LearnedText[],
  batch: Pick<PackedBatch, 'rows'>,
): { rows: Int32Array; targets: Int32Array } {
  const rows: number[] = [];
  const targets: number[] = [];
  for (const [i, { tokens, learned }] of texts.entries()) {
    for (const place of learned) {
      rows.push(batch.rows[i]![place - 1]!);
      targets.push(tokens[place]!);
    }
  }
  return { rows: Int32Array.from(rows), targets: Int32Array.from(targets) };
}
