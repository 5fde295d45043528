import { z } from 'zod';
import { describeStatus } from '../http/index.ts';
import {
  isMissingRoute,
  isSuccess,
  isUnavailable,
  type ServerConnection,
} from './server-connection.ts';
import {
  type Completion,
  type CompletionRequest,
  likelyTokens,
  type ServerProtocol,
  type SignalOptions,
} from './server-protocol.ts';

const routes = {
  version: '/version',
  models: '/v1/models',
  generate: '/inference/v1/generate',
  load: '/v1/load_lora_adapter',
  unload: '/v1/unload_lora_adapter',
};

/** The oldest version whose routes and fields are known. */
const OLDEST = [0, 32] as const;

const versionSchema = z.object({ version: z.string() });
const modelsSchema = z.object({
  data: z
    .array(z.object({ id: z.string(), max_model_len: z.int().nullish() }))
    .min(1, 'must name the base model'),
});
const tokenSchema = z.object({ token_id: z.int(), logprob: z.number() });
const generatedSchema = z.object({
  choices: z.array(
    z.object({
      index: z.int().min(0),
      finish_reason: z.string(),
      token_ids: z.array(z.int()),
      logprobs: z.object({
        content: z.array(tokenSchema.extend({ top_logprobs: z.array(tokenSchema).nullish() })),
      }),
    }),
  ),
});

/** Most tokens that vLLM reports per position unless it was started with more. */
const MAX_TOP_LOGPROBS = 20;

/** vLLM's token-in, token-out route and its adapters at run time. */
export class VllmProtocol implements ServerProtocol {
  readonly logprobsRemedy = 'start vLLM with --logprobs-mode processed_logprobs';
  private readonly connection: ServerConnection;
  private base = '';

  constructor(connection: ServerConnection) {
    this.connection = connection;
  }

  async check(signal: AbortSignal) {
    const { connection } = this;
    const answer = await connection.get(routes.version, { signal });
    if (isMissingRoute(answer)) {
      throw connection.failure(routes.version, 'must be vLLM, got a server without this route');
    }
    const { version } = connection.read(answer, versionSchema, { route: routes.version });
    const [major, minor] = version.split('.').map(Number);
    const isKnown = Number.isInteger(major) && Number.isInteger(minor);
    if (!isKnown || major! < OLDEST[0] || (major === OLDEST[0] && minor! < OLDEST[1])) {
      throw connection.failure(
        routes.version,
        `must be version ${OLDEST.join('.')} or newer, got ${version}; upgrade vLLM`,
      );
    }
    const models = await connection.get(routes.models, { signal });
    const [base] = connection.read(models, modelsSchema, { route: routes.models }).data;
    this.base = base!.id;
    return { maxLength: base!.max_model_len ?? undefined };
  }

  async loadAdapter(name: string, folder: string, { signal }: SignalOptions): Promise<void> {
    const body = { lora_name: name, lora_path: folder };
    // vLLM reports an adapter that it cannot use with status 500.
    const answer = await this.connection.post(routes.load, body, {
      signal,
      isTransient: isUnavailable,
    });
    if (isSuccess(answer)) return;
    const { status } = answer;
    if (isMissingRoute(answer)) {
      throw this.connection.failure(
        routes.load,
        'must exist; start vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True',
      );
    }
    const remedy =
      status === 404
        ? `; the server must be able to read ${folder}: set rolloutFolder to a folder that both machines share`
        : '; start vLLM with --enable-lora, and with --max-lora-rank of at least loraR';
    throw this.connection.failure(routes.load, `${describeStatus(answer)}${remedy}`);
  }

  async unloadAdapter(name: string, signal: AbortSignal): Promise<void> {
    const answer = await this.connection.post(routes.unload, { lora_name: name }, { signal });
    if (isSuccess(answer) || answer.status === 404) return;
    throw this.connection.failure(routes.unload, describeStatus(answer));
  }

  async complete(
    request: CompletionRequest,
    signal: AbortSignal,
  ): Promise<readonly Completion[] | undefined> {
    const { connection } = this;
    const body = {
      model: request.adapter ?? this.base,
      token_ids: Array.from(request.promptTokens),
      sampling_params: samplingParams(request),
    };
    const answer = await connection.post(routes.generate, body, { signal });
    if (answer.status === 403 || isMissingRoute(answer)) {
      throw connection.failure(
        routes.generate,
        `must exist, got status ${answer.status}; start vLLM with --enable-scale-out`,
      );
    }
    if (answer.status === 404) return undefined;
    const { choices } = connection.read(answer, generatedSchema, { route: routes.generate });
    return [...choices]
      .sort((a, b) => a.index - b.index)
      .map(({ token_ids: tokens, finish_reason: reason, logprobs: { content } }) => {
        if (content.some(({ token_id }, t) => token_id !== tokens[t])) {
          throw connection.failure(
            routes.generate,
            'must report the logprobs of its own tokens, got those of others',
          );
        }
        const finishReason = this.finishReason(reason);
        const logprobs = content.map(({ logprob }) => logprob);
        const { topLogprobs: count } = request;
        if (count === undefined) return { tokens, logprobs, finishReason };
        const alternatives = content.map(({ top_logprobs: top }) => {
          const tops = (top ?? []).map(({ token_id: id, logprob }) => ({ id, logprob }));
          return likelyTokens(tops, count);
        });
        return { tokens, logprobs, alternatives, finishReason };
      });
  }

  private finishReason(reason: string): Completion['finishReason'] {
    if (reason === 'stop' || reason === 'length') return reason;
    throw this.connection.failure(
      routes.generate,
      `must end a text with stop or length, got ${reason}`,
    );
  }
}

/** `ignore_eos` leaves the choice of stop tokens to us. vLLM gives the k-th sample the seed + k. */
function samplingParams(request: CompletionRequest) {
  const { topLogprobs = 0, stopStrings } = request;
  return {
    n: request.samples,
    seed: request.seed,
    max_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    // 0 means all tokens.
    top_k: request.topK ?? 0,
    min_p: request.minP,
    ignore_eos: true,
    stop_token_ids: request.stopTokenIds,
    ...(stopStrings.length > 0 && { stop: stopStrings }),
    detokenize: stopStrings.length > 0,
    // 0 means those of the sampled token only.
    logprobs: Math.min(topLogprobs, MAX_TOP_LOGPROBS),
  };
}
