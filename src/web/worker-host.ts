import type { AdapterFiles } from '../base-setup/lora/peft-reader.ts';
import { adapterToFiles } from '../base-setup/lora/peft-writer.ts';
import type { Backend } from '../engine/runtime/index.ts';
import { messageOf } from '../http/message-of.ts';
import type { LoadedModel } from '../models/decoder/load-model.ts';
import { countParameters } from '../models/decoder/parameter-counts.ts';
import { PolicyModel } from '../models/policy-model.ts';
import { describeBase } from '../ppo-trainer/roles.ts';
import {
  RewardError,
  type RewardSample,
  type RewardScore,
  type RewardSource,
} from '../reward-kl/reward-source.ts';
import type {
  GenerateOptions,
  LogprobsMessage,
  MessagePlace,
  MethodName,
  OpenedModel,
  OpenModelOptions,
  PageMessage,
  RewardDescription,
  TrainMessage,
  WebText,
  WorkerMessage,
  WorkerMethods,
} from './messages.ts';
import { fetchModelFiles, modelFromFiles } from './model-files.ts';
import { createWebBackend, wasmThreads } from './web-backend.ts';
import { WebRun } from './web-run.ts';

type Methods = {
  [Name in MethodName]: (
    argument: Parameters<WorkerMethods[Name]>[0],
  ) => ReturnType<WorkerMethods[Name]> | Promise<ReturnType<WorkerMethods[Name]>>;
};

/** How a worker runs. */
export interface WorkerHostOptions {
  /** Where graphs run; onnxruntime-web by default. */
  readonly backend?: Backend | undefined;
}

/** The part of `proximal/web` that runs in a worker: it holds the model and the run, and answers the
 *  messages of its page. */
export class WorkerHost {
  private readonly page: MessagePlace;
  private readonly backend: Backend | undefined;
  private readonly pending = new Map<number, PendingScores>();
  private model: LoadedModel | undefined;
  private run: WebRun | undefined;
  /** Settles when the run has ended. */
  private running: Promise<unknown> = Promise.resolve();
  private asked = 0;

  constructor(page: MessagePlace, { backend }: WorkerHostOptions = {}) {
    this.page = page;
    this.backend = backend;
    page.addEventListener('message', ({ data }) => this.receive(data as PageMessage));
  }

  private readonly methods: Methods = {
    open: (options) => this.open(options),
    generate: (options) => this.generate(options),
    train: (message) => this.train(message),
    pause: () => this.run?.pause(),
    resume: () => this.run?.resume(),
    stop: () => this.run?.stop(),
    setKlCoef: (klCoef) => this.run?.setKlCoef(klCoef),
    adapter: () => this.encodeAdapter(),
    logprobs: (message) => this.logprobs(message),
  };

  private receive(message: PageMessage): void {
    if (message.type === 'call') void this.call(message);
    else if (message.type === 'scores') this.take(message.id)?.resolve(message.scores);
    else this.take(message.id)?.reject(new RewardError(message.error));
  }

  private async call({ id, method, argument }: PageMessage & { type: 'call' }): Promise<void> {
    try {
      const result = await (this.methods[method] as (argument: unknown) => unknown)(argument);
      this.send({ type: 'result', id, result });
    } catch (error) {
      this.send({ type: 'error', id, error: messageOf(error) });
    }
  }

  private async open({
    model,
    files,
    wasm = {},
    ...options
  }: OpenModelOptions): Promise<OpenedModel> {
    const device = this.backend ?? createWebBackend(wasm);
    const onProgress = (bytes: number) => this.send({ type: 'progress', bytes });
    const contents =
      typeof model === 'string' ? await fetchModelFiles(model, { files, onProgress }) : model;
    const { name = typeof model === 'string' ? model : 'model' } = options;
    await this.endRun();
    await this.model?.base.dispose();
    this.model = await modelFromFiles(contents, { name, device });
    const { architecture } = this.model.base;
    return {
      name,
      parameters: countParameters(architecture).total,
      contextLength: architecture.config.max_position_embeddings,
      threads: wasm.threads ?? wasmThreads(),
    };
  }

  private async generate({ prompts, ...options }: GenerateOptions): Promise<readonly WebText[]> {
    const texts = await this.usePolicy((policy) => {
      const { tokenizer } = this.needModel();
      return policy.generate(
        prompts.map((prompt) => tokenizer.encode(prompt)),
        options,
      );
    });
    return texts.map(({ text, tokens, logprobs }) => ({ text, tokens, logprobs }));
  }

  private async train(message: TrainMessage) {
    const model = this.needModel();
    await this.endRun();
    const run = await WebRun.create(message, {
      model,
      rewardSource: (reward) => this.rewardSource(reward),
      onEvent: (event) => this.send({ type: 'event', event }),
    });
    this.run = run;
    const result = run.run();
    // Whoever started the run hears about its error.
    this.running = result.catch(() => undefined);
    const { steps, reason, message: sentence, metrics } = await result;
    return { steps, reason, message: sentence, metrics };
  }

  private async endRun(): Promise<void> {
    this.run?.stop();
    await this.running;
    await this.run?.dispose();
    this.run = undefined;
  }

  /** The policy's adapter as PEFT saves it. */
  private encodeAdapter(): Promise<AdapterFiles> {
    const model = this.needModel();
    const fingerprint = model.base.fingerprint();
    const run = this.needRun();
    return run.betweenUpdates(() =>
      adapterToFiles(run.components.policy.adapter!, { ...describeBase(model), fingerprint }),
    );
  }

  private async logprobs({ prompt, tokens }: LogprobsMessage): Promise<Float32Array> {
    const promptTokens = this.needModel().tokenizer.encode(prompt);
    const { logprobs } = await this.usePolicy((policy) =>
      policy.logprobs([promptTokens], [tokens]),
    );
    return logprobs[0]!;
  }

  /** Uses the policy of the run, or the plain base if there is none. */
  private async usePolicy<T>(use: (policy: PolicyModel) => Promise<T>): Promise<T> {
    const { run } = this;
    if (run !== undefined) return run.betweenUpdates(() => use(run.components.policy));
    const { base, tokenizer } = this.needModel();
    const policy = new PolicyModel({ base, tokenizer });
    try {
      return await use(policy);
    } finally {
      await policy.dispose();
    }
  }

  /** A reward that the page computes. */
  private rewardSource({ name, timeout }: RewardDescription): RewardSource {
    return {
      name,
      ...(timeout !== undefined && { timeout }),
      score: (samples, { signal }) => this.askPage(name, samples, signal),
    };
  }

  private askPage(
    reward: string,
    samples: readonly RewardSample[],
    signal: AbortSignal,
  ): Promise<readonly RewardScore[]> {
    const id = this.asked++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      signal.addEventListener('abort', () => this.take(id)?.reject(signal.reason as Error));
      this.send({ type: 'score', id, reward, samples });
    });
  }

  private take(id: number): PendingScores | undefined {
    const pending = this.pending.get(id);
    this.pending.delete(id);
    return pending;
  }

  private needModel(): LoadedModel {
    if (this.model !== undefined) return this.model;
    throw new Error('Cannot use the model: it must be opened first; call open()');
  }

  private needRun(): WebRun {
    if (this.run !== undefined) return this.run;
    throw new Error('Cannot save the adapter: a training must have started; call train()');
  }

  private send(message: WorkerMessage): void {
    this.page.postMessage(message);
  }
}

interface PendingScores {
  resolve(scores: readonly RewardScore[]): void;
  reject(error: Error): void;
}
