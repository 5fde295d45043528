import { basename, dirname, resolve } from 'node:path';
import { readAdapter } from '../base-setup/index.ts';
import type { RunConfig } from '../config/run-config.ts';
import type { PromptRecord } from '../data/index.ts';
import { randomStream } from '../engine/random/index.ts';
import { type LoadedModel, loadModel, PolicyModel } from '../models/index.ts';
import { findAdapter, resolveStart } from './find-model.ts';
import { readConfigOf } from './run-config-files.ts';
import { loadHeldOutPrompts } from './run-data.ts';
import { readRunState } from './run-state.ts';
import { trainKind } from './train-run.ts';

/** Which policies respond, and to which prompts. */
export interface ComparePoliciesOptions {
  /** Folder of the other run; the run's own reference by default. */
  readonly against?: string | undefined;
  /** File of prompts; the run's validation prompts by default. */
  readonly prompts?: string | undefined;
  /** Maximum number of prompts. */
  readonly limit: number;
  /** The same seed selects the same prompts and samples the same responses. */
  readonly seed: number;
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of responses done and in total. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** Responses of a run's policy and of another model to the same prompts. */
export interface ComparedPolicies {
  /** Step of the run whose policy responded. */
  readonly step: number;
  /** The other model: `reference`, or the name of the other run. */
  readonly against: string;
  readonly pairs: readonly {
    readonly prompt: string;
    readonly policy: string;
    readonly other: string;
  }[];
}

/** A model that responds. */
interface Side {
  /** `policy` or `other`; part of the random streams. */
  readonly side: string;
  readonly config: RunConfig;
  /** Folder of the adapter; undefined for the model itself. */
  readonly adapter: string | undefined;
}

/** Samples a response of a run's policy and one of its reference, or of another run's policy, to held-out
 *  prompts. Both are sampled with the run's own settings. */
export async function comparePolicies(
  run: string,
  options: ComparePoliciesOptions,
): Promise<ComparedPolicies> {
  const { against } = options;
  const config = await readPolicyConfig(run);
  const policy: Side = { side: 'policy', config, adapter: await findAdapter(run) };
  const other: Side =
    against === undefined
      ? { side: 'other', config, adapter: config.adapter && (await findAdapter(config.adapter)) }
      : {
          side: 'other',
          config: await readPolicyConfig(against),
          adapter: await findAdapter(against),
        };
  const responses = await respondBoth([policy, other], { ...options, config });
  const pairs = responses.flatMap(({ text: prompt, texts: [first, second] }) =>
    first === undefined || second === undefined ? [] : { prompt, policy: first, other: second },
  );
  if (pairs.length === 0) {
    throw new Error(
      `Cannot compare ${run}: it must have validation prompts, got none; name a file with --prompts`,
    );
  }
  return {
    step: await stepOf(policy.adapter!, run),
    against: against === undefined ? 'reference' : basename(resolve(against)),
    pairs,
  };
}

/** The step of a policy: that of its checkpoint, or that of the model of a run that has ended. */
async function stepOf(adapter: string, run: string): Promise<number> {
  const [, step] = /checkpoint-(\d+)/.exec(basename(dirname(adapter))) ?? [];
  if (step !== undefined) return Number(step);
  const state = (await readRunState(run))!;
  return state.model?.step ?? state.step;
}

async function readPolicyConfig(run: string): Promise<RunConfig> {
  if ((await readRunState(run)) === undefined) {
    throw new Error(
      `Cannot compare ${run}: it must be the folder of a run of "proximal train", got no run.json in it; "proximal runs" lists runs`,
    );
  }
  return (await resolveStart(await readConfigOf(run, trainKind))).config;
}

interface Response {
  readonly text: string;
  /** One per side; missing if the prompt is too long for it. */
  readonly texts: readonly (string | undefined)[];
}

type RespondOptions = ComparePoliciesOptions & { readonly config: RunConfig };

/** The responses of both sides. A model that both use is loaded once. */
async function respondBoth(
  sides: readonly Side[],
  { onProgress, ...options }: RespondOptions,
): Promise<Response[]> {
  const loaded = new Map<string, LoadedModel>();
  const texts: Map<string, string>[] = [];
  let selected: readonly PromptRecord[] = [];
  let done = 0;
  try {
    for (const side of sides) {
      const model = await loadOnce(side.config, loaded);
      const records = await loadPromptsFor(model, options);
      // The first side selects the prompts, the second one only encodes them.
      if (texts.length === 0) selected = select(records, options);
      const rows = new Set(selected.map(keyOf));
      const prompts = records.filter((record) => rows.has(keyOf(record)));
      const total = sides.length * selected.length;
      texts.push(
        await respond(prompts, {
          ...{ ...options, side, model },
          onText: () => onProgress?.(++done, total),
        }),
      );
    }
  } finally {
    for (const { base } of loaded.values()) await base.dispose();
  }
  return selected.map((record) => ({
    text: record.text,
    texts: texts.map((responses) => responses.get(keyOf(record))),
  }));
}

async function loadOnce(
  { modelName, revision, basePrecision, device }: RunConfig,
  loaded: Map<string, LoadedModel>,
): Promise<LoadedModel> {
  const key = JSON.stringify([modelName, revision, basePrecision, device]);
  const options = { basePrecision, device, ...(revision !== undefined && { revision }) };
  const model = loaded.get(key) ?? (await loadModel(modelName, options));
  loaded.set(key, model);
  return model;
}

/** Held-out prompts of the run, as tokens of a model. */
function loadPromptsFor(
  { base, tokenizer }: LoadedModel,
  { config, prompts }: RespondOptions,
): Promise<readonly PromptRecord[]> {
  if (config.environment !== undefined) {
    throw new Error(
      `Cannot compare policies: responses must have one turn, got a run with the environment ${config.environment}; use proximal evaluate`,
    );
  }
  const contextLength = base.architecture.config.max_position_embeddings;
  return loadHeldOutPrompts(config, { tokenizer, contextLength, prompts });
}

/** Different prompts, selected by the seed. */
function select(
  records: readonly PromptRecord[],
  { limit, seed }: Pick<ComparePoliciesOptions, 'limit' | 'seed'>,
): PromptRecord[] {
  const different = new Map(records.map((record) => [record.text, record]));
  const random = randomStream(seed, 'compared prompts');
  return random.shuffle([...different.values()]).slice(0, limit);
}

/** Chat templates of two models differ, so a prompt is identified by its row. */
function keyOf({ row }: PromptRecord): string {
  return JSON.stringify(row);
}

interface RespondContext extends Omit<RespondOptions, 'onProgress'> {
  readonly side: Side;
  readonly model: LoadedModel;
  readonly onText: () => void;
}

/** A sampled response to each prompt, by the prompt's key. */
async function respond(
  prompts: readonly PromptRecord[],
  { side, model, config, seed, signal, onText }: RespondContext,
): Promise<Map<string, string>> {
  const { base } = model;
  const adapter =
    side.adapter === undefined ? undefined : (await readAdapter(side.adapter, base)).adapter;
  const policy = new PolicyModel({ ...model, adapter, batchSize: config.rolloutBatchSize });
  try {
    const { maxNewTokens, stop: stopStrings, temperature, topK, topP, minP } = config;
    const texts = await policy.generate(
      prompts.map(({ tokens }) => tokens),
      {
        ...{ maxNewTokens, stopStrings, temperature, topP, minP, seed, onText },
        ...(topK !== undefined && { topK }),
        ...(signal !== undefined && { signal }),
        streamKey: ['compared responses', side.side],
      },
    );
    return new Map(prompts.map((prompt, i) => [keyOf(prompt), texts[i]!.text]));
  } finally {
    await policy.dispose();
  }
}
