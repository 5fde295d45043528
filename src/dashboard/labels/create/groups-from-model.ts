import { type LoraAdapter, readAdapter } from '../../../base-setup/index.ts';
import { loadPrompts, type PromptRecord } from '../../../data/index.ts';
import { randomStream } from '../../../engine/random/index.ts';
import { type LoadedModel, loadModel, PolicyModel } from '../../../models/index.ts';
import { findModel } from '../../../run/find-model.ts';
import { differentResponses, type ResponseGroup } from './make-tasks.ts';

export interface GroupsFromModelOptions {
  /** A run, an adapter, a model folder or a hub id. */
  readonly model: string;
  /** Name of the model in the responses' origin. */
  readonly name: string;
  readonly prompts: string;
  readonly maxNewTokens?: number | undefined;
  /** Responses to each prompt. */
  readonly samples: number;
  /** Maximum number of prompts, selected by the seed. */
  readonly limit: number;
  readonly seed: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of prompts done and in total. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Number of prompts per call; progress is reported after each. */
const callSize = 8;
const defaultLength = 50;

/** New responses of a model to the prompts of a file. */
export async function groupsFromModel(options: GroupsFromModelOptions): Promise<ResponseGroup[]> {
  const { modelName, revision, adapter: folder } = await findModel(options.model);
  const model = await loadModel(modelName, revision === undefined ? {} : { revision });
  try {
    const peft = folder === undefined ? undefined : await readAdapter(folder, model.base);
    return await generateGroups({ ...model, adapter: peft?.adapter }, options);
  } finally {
    await model.base.dispose();
  }
}

async function generateGroups(
  model: LoadedModel & { readonly adapter: LoraAdapter | undefined },
  options: GroupsFromModelOptions,
): Promise<ResponseGroup[]> {
  const prompts = await selectPrompts(model, options);
  const policy = new PolicyModel(model);
  const groups: ResponseGroup[] = [];
  try {
    options.onProgress?.(0, prompts.length);
    for (let start = 0; start < prompts.length; start += callSize) {
      const part = prompts.slice(start, start + callSize);
      groups.push(...(await respond(part, { ...options, policy, start })));
      options.onProgress?.(groups.length, prompts.length);
    }
  } finally {
    await policy.dispose();
  }
  return groups;
}

/** Responses to some prompts. If some are equal or empty, the model tries up to two more times. */
async function respond(
  prompts: readonly PromptRecord[],
  options: GroupsFromModelOptions & { readonly policy: PolicyModel; readonly start: number },
): Promise<ResponseGroup[]> {
  const { policy, start, samples, seed, name, signal, maxNewTokens = defaultLength } = options;
  let groups: ResponseGroup[] = prompts.map(({ text }) => ({ prompt: text, responses: [] }));
  for (let attempt = 0; attempt < 3; attempt++) {
    const lacking = [...groups.keys()].filter((i) => groups[i]!.responses.length < samples);
    if (lacking.length === 0) break;
    const texts = await policy.generate(
      lacking.map((i) => prompts[i]!.tokens),
      {
        ...{ maxNewTokens, seed, numReturnSequences: samples },
        streamKey: ['labels', start, attempt],
        ...(signal !== undefined && { signal }),
      },
    );
    groups = groups.map(({ prompt, responses }, i) => {
      const own = texts.filter((text) => lacking[text.prompt] === i);
      const fresh = own.map(({ text, sample }) => {
        return { text, from: { model: name, sample: attempt * samples + sample } };
      });
      return { prompt, responses: differentResponses([...responses, ...fresh]).slice(0, samples) };
    });
  }
  return groups;
}

async function selectPrompts(
  { base, tokenizer }: LoadedModel,
  { prompts: file, maxNewTokens = defaultLength, limit, seed }: GroupsFromModelOptions,
): Promise<PromptRecord[]> {
  const contextLength = base.architecture.config.max_position_embeddings;
  // The dashboard may run in the process of a training.
  const options = { maxNewTokens, contextLength, validationFraction: 0, inSandbox: true };
  const { train } = await loadPrompts(file, tokenizer, options);
  const different = new Map(train.map((record) => [record.text, record]));
  return randomStream(seed, 'label prompts')
    .shuffle([...different.values()])
    .slice(0, limit);
}
