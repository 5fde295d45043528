import { z } from 'zod';
import { parseConfig } from './parse-config.ts';

const count = z.int().min(1);

/** The shape of an untrained model: the specification's fields and what else a family's config.json
 *  needs. Fields without a default here get one from the other fields. */
export const modelConfigSchema = z
  .strictObject({
    modelType: z
      .enum(['qwen3', 'qwen2', 'llama', 'gpt2'])
      .default('qwen3')
      .describe('Family of the model'),
    vocabSize: count.optional().describe("Tokens in the vocabulary; default: the family's"),
    hiddenSize: count.default(768).describe('Width of the hidden states'),
    intermediateSize: count
      .optional()
      .describe(
        'Width of the MLP; default: 4 × hidden size for gpt2, ⅔ of that for gated families, which have one more matrix',
      ),
    numLayers: count.default(12).describe('Decoder layers'),
    numAttentionHeads: count.default(12).describe('Query heads per layer'),
    numKeyValueHeads: count
      .optional()
      .describe('Key and value heads per layer; default: as many as query heads'),
    headDim: count.optional().describe('Width of a head; default: hidden size / query heads'),
    maxPositionEmbeddings: count.default(2048).describe('Longest text in tokens'),
    ropeTheta: z
      .number()
      .positive()
      .optional()
      .describe("Base of the rotary position embeddings; default: the family's"),
    tieWordEmbeddings: z
      .boolean()
      .default(true)
      .describe('Use the embedding as the output head instead of a separate matrix'),
    dropout: z
      .number()
      .min(0)
      .lt(1)
      .default(0.1)
      .describe(
        'Dropout on embeddings and on the outputs of attention and MLP, in SFT with fullParameters',
      ),
    layerNormEps: z.number().positive().default(1e-5).describe('Added to the variance in norms'),
  })
  .superRefine((config, context) => {
    const message = findContradiction(config);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

type Fields = z.output<typeof modelConfigSchema>;

/** Model options; every field has a default. */
export type ModelConfigOptions = z.input<typeof modelConfigSchema>;

type Filled<T> = { readonly [Key in keyof T]-?: Exclude<T[Key], undefined> };

/** A model's shape with all defaults filled in; also valid as options. */
export type ModelConfig = Filled<Omit<Fields, 'ropeTheta'>> & {
  /** Undefined if positions are learned. */
  readonly ropeTheta: number | undefined;
};

interface FamilyDefaults {
  readonly vocabSize: number;
  readonly ropeTheta: number | undefined;
  readonly intermediateSize: (hiddenSize: number) => number;
}

/** 8/3 · hidden, rounded up to a multiple of 32: three matrices as large as two of 4 · hidden.
 *  @example 768  →  2048 */
const gatedSize = (hiddenSize: number) => 32 * Math.ceil((8 * hiddenSize) / (3 * 32));

/** The values of the best-known models of each family. */
const familyDefaults: Readonly<Record<ModelConfig['modelType'], FamilyDefaults>> = {
  qwen3: { vocabSize: 151_936, ropeTheta: 1_000_000, intermediateSize: gatedSize },
  qwen2: { vocabSize: 151_936, ropeTheta: 1_000_000, intermediateSize: gatedSize },
  llama: { vocabSize: 32_000, ropeTheta: 10_000, intermediateSize: gatedSize },
  gpt2: { vocabSize: 50_257, ropeTheta: undefined, intermediateSize: (hidden) => 4 * hidden },
};

/** Checks model options and fills in the defaults.
 *  @example { modelType: 'gpt2' }  →  768 wide, 12 layers of 12 heads of 64, MLP of 3072 */
export function resolveModelConfig(options: ModelConfigOptions = {}): ModelConfig {
  const config = parseConfig(modelConfigSchema, options, { name: 'the model config' });
  const { modelType, hiddenSize, numAttentionHeads } = config;
  const defaults = familyDefaults[modelType];
  return {
    ...config,
    vocabSize: config.vocabSize ?? defaults.vocabSize,
    intermediateSize: config.intermediateSize ?? defaults.intermediateSize(hiddenSize),
    numKeyValueHeads: config.numKeyValueHeads ?? numAttentionHeads,
    headDim: config.headDim ?? hiddenSize / numAttentionHeads,
    ropeTheta: config.ropeTheta ?? defaults.ropeTheta,
  };
}

/** Describes the first contradiction between two fields, if there is one. */
function findContradiction(config: Fields): string | undefined {
  const { modelType, hiddenSize, numAttentionHeads: heads, ropeTheta } = config;
  const { numKeyValueHeads: kvHeads = heads, headDim = hiddenSize / heads } = config;
  if (!Number.isInteger(headDim)) {
    const remedy = modelType === 'gpt2' ? '' : '; or set headDim';
    return `hiddenSize must be a multiple of numAttentionHeads (${heads}), got ${hiddenSize}${remedy}`;
  }
  if (heads % kvHeads !== 0) {
    return `numAttentionHeads must be a multiple of numKeyValueHeads (${kvHeads}), got ${heads}`;
  }
  if (modelType !== 'gpt2') {
    return headDim % 2 === 0
      ? undefined
      : `headDim must be even, because rotary positions rotate pairs, got ${headDim}`;
  }
  if (kvHeads !== heads) {
    return `numKeyValueHeads must be numAttentionHeads (${heads}) in gpt2, got ${kvHeads}`;
  }
  if (headDim !== hiddenSize / heads) {
    return `headDim must be hiddenSize / numAttentionHeads (${hiddenSize / heads}) in gpt2, got ${headDim}`;
  }
  return ropeTheta === undefined
    ? undefined
    : `ropeTheta must not be set for gpt2, whose positions are learned, got ${ropeTheta}`;
}
