import { parentPort, workerData } from 'node:worker_threads';
import { describeThrown } from './describe-failure.ts';
import {
  importRewardFile,
  isRewardModelClass,
  type ModuleUrls,
  sourcesOfFile,
} from './import-reward-file.ts';
import type { NamedRewardSpec } from './library/named-rewards.ts';
import type { RewardSample, RewardScore, WeightedSource } from './reward-source.ts';
import { checkScores } from './score-samples.ts';
import { toWeightedSources } from './to-weighted-sources.ts';

// The program of the thread that `RewardThread` starts: it loads rewards and scores samples.

/** What the thread is started with: a reward file, or a reward of the library with its options as text. */
export type WorkerInput =
  | { readonly file: string; readonly modules: ModuleUrls }
  | Pick<NamedRewardSpec, 'name' | 'options'>;

/** Messages to the thread. */
export type WorkerRequest =
  | {
      readonly type: 'score';
      readonly id: number;
      /** Index of the source in the file. */
      readonly source: number;
      readonly samples: readonly RewardSample[];
    }
  | { readonly type: 'abort'; readonly id: number };

/** An error as data. */
export interface WorkerFailure {
  readonly message: string;
  readonly stack: string | undefined;
}

/** A source of the file, without its code. */
export interface WorkerSource {
  readonly name: string;
  readonly weight: number;
  readonly timeout: number | undefined;
}

/** Messages from the thread, in the order of what happens in it. */
export type WorkerMessage =
  | { readonly type: 'loaded'; readonly sources: readonly WorkerSource[] }
  /** The file exports a reward model, which needs the models of the main thread. */
  | { readonly type: 'loaded-model-class' }
  | { readonly type: 'load-failed'; readonly failure: WorkerFailure }
  | { readonly type: 'started'; readonly id: number }
  | { readonly type: 'scored'; readonly id: number; readonly index: number }
  | { readonly type: 'scores'; readonly id: number; readonly scores: readonly RewardScore[] }
  | { readonly type: 'failed'; readonly id: number; readonly failure: WorkerFailure }
  | { readonly type: 'output'; readonly text: string };

const post = (message: WorkerMessage) => parentPort!.postMessage(message);
const pending = new Map<number, AbortController>();

forwardOutput();
await serve(workerData as WorkerInput);

/** Sends what the file prints as messages: the standard streams would wait for the thread's event loop,
 *  which a hung reward never reaches. */
function forwardOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
      post({ type: 'output', text: typeof chunk === 'string' ? chunk : decode(chunk) });
      const callback = rest.find((argument) => typeof argument === 'function');
      if (callback !== undefined) queueMicrotask(callback as () => void);
      return true;
    };
  }
}

function decode(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

async function serve(input: WorkerInput): Promise<void> {
  let sources: readonly WeightedSource[];
  try {
    const loaded = 'file' in input ? await importSources(input) : await createSources(input);
    if (loaded === undefined) return post({ type: 'loaded-model-class' });
    sources = loaded;
  } catch (error) {
    return post({ type: 'load-failed', failure: toFailure(error) });
  }
  parentPort!.on('message', (request: WorkerRequest) => {
    if (request.type === 'abort') pending.get(request.id)?.abort();
    else void score(sources[request.source]!, request);
  });
  const described = sources.map(({ source: { name, timeout }, weight }) => ({
    ...{ name, timeout, weight },
  }));
  post({ type: 'loaded', sources: described });
}

/** The sources of a file; undefined if it exports a reward model. */
async function importSources({
  file,
  modules,
}: Extract<WorkerInput, { file: string }>): Promise<WeightedSource[] | undefined> {
  const exported = await importRewardFile(file, modules);
  return isRewardModelClass(exported) ? undefined : sourcesOfFile(exported, file);
}

async function createSources({
  name,
  options,
}: Extract<WorkerInput, { name: string }>): Promise<WeightedSource[]> {
  // Reward files that do not use the library need not wait for it.
  const { createNamedReward } = await import('./library/named-rewards.ts');
  return toWeightedSources(createNamedReward(name, options));
}

async function score(
  { source }: WeightedSource,
  { id, samples }: Extract<WorkerRequest, { type: 'score' }>,
): Promise<void> {
  const controller = new AbortController();
  pending.set(id, controller);
  post({ type: 'started', id });
  try {
    const scores = await source.score(samples, {
      signal: controller.signal,
      onScored: (index) => post({ type: 'scored', id, index }),
    });
    const checked = checkScores(scores, { name: source.name, samples });
    post({ type: 'scores', id, scores: checked.map(toPlain) });
  } catch (error) {
    post({ type: 'failed', id, failure: toFailure(error, source.name) });
  } finally {
    pending.delete(id);
  }
}

/** A score without anything that cannot be sent. */
function toPlain(score: RewardScore): RewardScore {
  return typeof score === 'number' ? score : Array.from(score);
}

/** @param name the source that threw, unless the error says it */
function toFailure(thrown: unknown, name?: string): WorkerFailure {
  return { message: messageFor(thrown, name), stack: originalStack(thrown) };
}

/** The stack of the first error, which shows the lines of the user's file. */
function originalStack(thrown: unknown): string | undefined {
  return thrown instanceof Error ? (originalStack(thrown.cause) ?? thrown.stack) : undefined;
}

function messageFor(thrown: unknown, name: string | undefined): string {
  if (thrown instanceof Error && (name === undefined || thrown.name === 'RewardError')) {
    return thrown.message;
  }
  return `Cannot score with "${name}": ${describeThrown(thrown)}`;
}
