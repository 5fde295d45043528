import type { AdapterFiles } from '../base-setup/lora/peft-reader.ts';
import type { PPOConfigOptions } from '../config/ppo-config.ts';
import type { TrainingConfigOptions } from '../config/training-config.ts';
import { messageOf } from '../http/message-of.ts';
import type { LoopResult, TrainEvent } from '../loop/index.ts';
import type { RewardSource } from '../reward-kl/reward-source.ts';
import { type Rewards, toWeightedSources } from '../reward-kl/to-weighted-sources.ts';
import type {
  GenerateOptions,
  MessagePlace,
  MethodName,
  OpenedModel,
  OpenModelOptions,
  PageMessage,
  WebText,
  WorkerMessage,
  WorkerMethods,
} from './messages.ts';

/** A worker that can be ended. */
export interface TrainerWorker extends MessagePlace {
  /** Receives messages. */
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  /** Receives errors of the script. */
  addEventListener(type: 'error', listener: (event: { readonly message?: string }) => void): void;
  /** Ends the worker. */
  terminate(): void;
}

/** A model to open, and who hears about its download. */
export interface OpenOptions extends OpenModelOptions {
  /** Receives the number of bytes that have arrived. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** Settings of a training in a tab. */
export interface WebTrainOptions extends TrainingConfigOptions {
  /** Settings of PPO. */
  readonly config?: PPOConfigOptions | undefined;
  /** Computed on the page, synchronously or not. */
  readonly rewards: Rewards;
  /** What policy and reference start from; a fresh adapter by default. */
  readonly adapter?: AdapterFiles | undefined;
  /** Receives what the run reports. */
  readonly onEvent?: ((event: TrainEvent) => void) | undefined;
}

/** How a training in a tab ended. */
export type WebTrainResult = Pick<LoopResult, 'steps' | 'reason' | 'message' | 'metrics'>;

/**
 * Trains a language model in a tab: the model runs in a worker, the rewards on the page.
 * @example
 * // worker.ts: import 'proximal/web/worker';
 * const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
 * const trainer = new WebTrainer(worker);
 * await trainer.open({ model: 'models/tiny' });
 * await trainer.train(prompts, { rewards: ({ response }) => -response.length, maxSteps: 20 });
 * const files = await trainer.adapter();
 */
export class WebTrainer {
  private readonly worker: TrainerWorker;
  private readonly calls = new Map<number, PendingCall>();
  private sources = new Map<string, RewardSource>();
  private listeners: Pick<WebTrainOptions, 'onEvent'> & Pick<OpenOptions, 'onProgress'> = {};
  private readonly stopped = new AbortController();
  private count = 0;

  constructor(worker: TrainerWorker) {
    this.worker = worker;
    worker.addEventListener('message', ({ data }) => this.receive(data as WorkerMessage));
    worker.addEventListener('error', ({ message = 'it could not be loaded' }) =>
      this.fail(`Cannot run the worker: its script must load and run, got an error (${message})`),
    );
  }

  /** Loads a model in the worker. */
  open({ onProgress, ...options }: OpenOptions): Promise<OpenedModel> {
    this.listeners = { ...this.listeners, onProgress };
    const { model, wasm } = options;
    return this.call('open', {
      ...options,
      model: typeof model === 'string' ? fromPage(model) : model,
      ...(wasm?.folder !== undefined && { wasm: { ...wasm, folder: fromPage(wasm.folder) } }),
    });
  }

  /** Generates with the current policy, or with the plain model before any training. */
  generate(
    prompts: readonly string[],
    options: Omit<GenerateOptions, 'prompts'> = {},
  ): Promise<readonly WebText[]> {
    return this.call('generate', { ...options, prompts });
  }

  /** Trains on prompts until all steps are done or `stop()` is called. */
  train(
    prompts: readonly string[],
    { config = {}, rewards, adapter, onEvent, ...training }: WebTrainOptions,
  ): Promise<WebTrainResult> {
    const weighted = toWeightedSources(rewards);
    this.sources = new Map(weighted.map(({ source }) => [source.name, source]));
    this.listeners = { ...this.listeners, onEvent };
    const descriptions = weighted.map(({ source: { name, timeout }, weight }) => ({
      ...{ name, weight },
      ...(timeout !== undefined && { timeout }),
    }));
    return this.call('train', { config, training, prompts, adapter, rewards: descriptions });
  }

  /** Pauses after the current step; an event reports when. */
  pause(): Promise<void> {
    return this.call('pause', undefined);
  }

  /** Continues a paused training. */
  resume(): Promise<void> {
    return this.call('resume', undefined);
  }

  /** Ends the training; the step in progress is dropped. */
  stop(): Promise<void> {
    return this.call('stop', undefined);
  }

  /** Sets β, the weight of the KL penalty, from the next step on. */
  setKlCoef(klCoef: number): Promise<void> {
    return this.call('setKlCoef', klCoef);
  }

  /** The policy's adapter as PEFT saves it: `adapter_config.json` and `adapter_model.safetensors`. */
  adapter(): Promise<AdapterFiles> {
    return this.call('adapter', undefined);
  }

  /** log π of tokens after a prompt, by the current policy. */
  logprobs(prompt: string, tokens: Int32Array): Promise<Float32Array> {
    return this.call('logprobs', { prompt, tokens });
  }

  /** Ends the worker and everything in it. */
  close(): void {
    this.worker.terminate();
    this.fail('The trainer was closed');
  }

  private call<Name extends MethodName>(
    method: Name,
    argument: Parameters<WorkerMethods[Name]>[0],
  ): Promise<ReturnType<WorkerMethods[Name]>> {
    const id = this.count++;
    return new Promise((resolve, reject) => {
      this.calls.set(id, { resolve: resolve as PendingCall['resolve'], reject });
      this.send({ type: 'call', id, method, argument });
    });
  }

  private receive(message: WorkerMessage): void {
    if (message.type === 'event') this.listeners.onEvent?.(message.event);
    else if (message.type === 'progress') this.listeners.onProgress?.(message.bytes);
    else if (message.type === 'score') void this.score(message);
    else if (message.type === 'result') this.take(message.id)?.resolve(message.result);
    else this.take(message.id)?.reject(new Error(message.error));
  }

  private async score({ id, reward, samples }: WorkerMessage & { type: 'score' }): Promise<void> {
    try {
      const source = this.sources.get(reward);
      if (source === undefined) throw new Error(`Internal: there is no reward "${reward}"`);
      const scores = await source.score(samples, { signal: this.stopped.signal });
      this.send({ type: 'scores', id, scores: [...scores] });
    } catch (error) {
      this.send({ type: 'score-error', id, error: messageOf(error) });
    }
  }

  private take(id: number): PendingCall | undefined {
    const call = this.calls.get(id);
    this.calls.delete(id);
    return call;
  }

  private fail(sentence: string): void {
    this.stopped.abort(new Error(sentence));
    for (const id of [...this.calls.keys()]) this.take(id)?.reject(new Error(sentence));
  }

  private send(message: PageMessage): void {
    this.worker.postMessage(message);
  }
}

/** An address relative to the page; the worker's script may be in another folder. */
function fromPage(address: string): string {
  const { document } = globalThis as { readonly document?: { readonly baseURI: string } };
  return document === undefined ? address : new URL(address, document.baseURI).href;
}

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: Error): void;
}
