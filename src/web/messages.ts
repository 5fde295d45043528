import type { AdapterFiles } from '../base-setup/lora/peft-reader.ts';
import type { PPOConfigOptions } from '../config/ppo-config.ts';
import type { TrainingConfigOptions } from '../config/training-config.ts';
import type { GenerationOptions } from '../generation/generation-options.ts';
import type { LoopResult, TrainEvent } from '../loop/index.ts';
import type { RewardSample, RewardScore } from '../reward-kl/reward-source.ts';
import type { ModelFiles } from './model-files.ts';

/** The build of onnxruntime-web and its number of threads. */
export interface WasmOptions {
  /** Folder with `ort-wasm-simd-threaded.mjs` and `.wasm` on the page's own server; by default the files
   *  are where the bundler put them. */
  readonly folder?: string | undefined;
  /** By default up to 4 if the page is cross-origin isolated, otherwise 1. */
  readonly threads?: number | undefined;
}

/** The model that a worker loads. */
export interface OpenModelOptions {
  /** Folder of a Hugging Face model on a web server, or the files themselves. */
  readonly model: string | ModelFiles;
  /** Names of the files to fetch; by default all that a model can have. */
  readonly files?: readonly string[] | undefined;
  /** What adapters and errors call the model; its address by default. */
  readonly name?: string | undefined;
  readonly wasm?: WasmOptions | undefined;
}

/** A model that a worker holds. */
export interface OpenedModel {
  readonly name: string;
  readonly parameters: number;
  /** Most tokens of a prompt and its response. */
  readonly contextLength: number;
  /** Threads of WebAssembly. */
  readonly threads: number;
}

/** Which texts to generate. */
export interface GenerateOptions
  extends Pick<
    GenerationOptions,
    'maxNewTokens' | 'temperature' | 'topK' | 'topP' | 'minP' | 'seed' | 'numReturnSequences'
  > {
  readonly prompts: readonly string[];
}

/** A text as a worker generates it. */
export interface WebText {
  readonly text: string;
  readonly tokens: Int32Array;
  /** log π of each token. */
  readonly logprobs: Float32Array;
}

/** Name and weight of a reward that the page computes. */
export interface RewardDescription {
  readonly name: string;
  readonly weight: number;
  /** Seconds without a new score after which it counts as hung; Infinity for people. */
  readonly timeout?: number | undefined;
}

/** A training, as it is sent to a worker. */
export interface TrainMessage {
  readonly config: PPOConfigOptions;
  readonly training: TrainingConfigOptions;
  readonly prompts: readonly string[];
  readonly rewards: readonly RewardDescription[];
  /** What policy and reference start from; a fresh adapter by default. */
  readonly adapter?: AdapterFiles | undefined;
}

/** A text to score by the current policy. */
export interface LogprobsMessage {
  readonly prompt: string;
  readonly tokens: Int32Array;
}

/** What a page asks of a worker: the argument and the result of each method. */
export interface WorkerMethods {
  open(options: OpenModelOptions): OpenedModel;
  generate(options: GenerateOptions): readonly WebText[];
  train(message: TrainMessage): Pick<LoopResult, 'steps' | 'reason' | 'message' | 'metrics'>;
  /** Between two steps. */
  pause(): void;
  resume(): void;
  stop(): void;
  setKlCoef(klCoef: number): void;
  adapter(): AdapterFiles;
  logprobs(message: LogprobsMessage): Float32Array;
}

export type MethodName = keyof WorkerMethods;

/** Messages from the page to its worker. */
export type PageMessage =
  | {
      readonly type: 'call';
      readonly id: number;
      readonly method: MethodName;
      readonly argument: unknown;
    }
  | { readonly type: 'scores'; readonly id: number; readonly scores: readonly RewardScore[] }
  | { readonly type: 'score-error'; readonly id: number; readonly error: string };

/** Messages from a worker to its page. */
export type WorkerMessage =
  | { readonly type: 'result'; readonly id: number; readonly result: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: string }
  | { readonly type: 'event'; readonly event: TrainEvent }
  | { readonly type: 'progress'; readonly bytes: number }
  | {
      readonly type: 'score';
      readonly id: number;
      readonly reward: string;
      readonly samples: readonly RewardSample[];
    };

/** A place to send messages to and receive them from: a worker, or the page of one. */
export interface MessagePlace {
  /** Sends a message. */
  postMessage(message: unknown): void;
  /** Receives messages. */
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
}
