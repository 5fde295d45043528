import type { LoraAdapter } from '../../src/base-setup/lora/lora-adapter.ts';
import type { GeneratedText } from '../../src/generation/index.ts';

/** What a rollout server received. */
export interface ReceivedRequest {
  readonly route: string;
  readonly body: unknown;
  readonly authorization: string | undefined;
}

/** A response in place of the server's own: a status with a text, or `hang` for none. */
type Reply = { readonly status: number; readonly text: string } | 'hang' | 'disconnect';

/** What a test can set; it may be changed while the server runs. */
export interface ServerSettings {
  version: string;
  maxLength: number;
  /** Whether logprobs ignore the temperature, as by default in vLLM. */
  rawLogprobs: boolean;
  /** Replaces responses; the server's own if it returns undefined.
   *  @param count number of requests to this route so far, including this one */
  intercept: (request: ReceivedRequest, count: number) => Reply | undefined;
  /** Changes a response before it is sent. */
  change: (request: ReceivedRequest, body: unknown) => unknown;
}

/** Sampling in our own names. */
export interface SamplingRequest {
  readonly adapter: string | undefined;
  readonly tokens: readonly number[];
  readonly samples: number;
  readonly seed: number;
  readonly maxNewTokens: number;
  readonly temperature: number;
  readonly topK?: number;
  readonly topP: number;
  readonly minP: number;
  readonly stopTokenIds: readonly number[];
  readonly stopStrings: readonly string[];
  readonly topLogprobs: number;
}

/** What the routes of a kind of server use. */
export interface ServerModel {
  readonly settings: ServerSettings;
  readonly adapters: Map<string, LoraAdapter>;
  load(name: string, folder: string): Promise<void>;
  generate(request: SamplingRequest): Promise<GeneratedText[]>;
}

/** A route: returns a status and a body, which is sent as JSON unless it is a text. */
export type Route = (
  body: unknown,
  server: ServerModel,
) => Promise<readonly [status: number, body: unknown]>;
