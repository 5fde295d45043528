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
  models: '/v1/models',
  generate: '/generate',
  load: '/load_lora_adapter',
  unload: '/unload_lora_adapter',
};

const modelsSchema = z.object({
  data: z.array(z.object({ id: z.string(), max_model_len: z.int().nullish() })).min(1),
});
/** [logprob, id, text] */
const tokenSchema = z.tuple([z.number(), z.int()], z.unknown());
const generatedSchema = z.object({
  meta_info: z.object({
    finish_reason: z.object({ type: z.string(), message: z.string().nullish() }),
    output_token_logprobs: z.array(tokenSchema),
    output_top_logprobs: z.array(z.array(tokenSchema).nullish()).nullish(),
  }),
});
const loadedSchema = z.object({ success: z.boolean(), error_message: z.string().nullish() });

/** SGLang's native generate route, written from its documented interface. Its logprobs are at the
 *  temperature but before any filter. */
export class SglangProtocol implements ServerProtocol {
  readonly logprobsRemedy = 'start SGLang without SGLANG_RETURN_ORIGINAL_LOGPROB';
  private readonly connection: ServerConnection;

  constructor(connection: ServerConnection) {
    this.connection = connection;
  }

  async check(signal: AbortSignal) {
    const answer = await this.connection.get(routes.models, { signal });
    const [base] = this.connection.read(answer, modelsSchema, { route: routes.models }).data;
    return { maxLength: base!.max_model_len ?? undefined };
  }

  async loadAdapter(name: string, folder: string, { signal }: SignalOptions): Promise<void> {
    const { connection } = this;
    const body = { lora_name: name, lora_path: folder };
    const answer = await connection.post(routes.load, body, { signal, isTransient: isUnavailable });
    if (isMissingRoute(answer)) {
      throw connection.failure(
        routes.load,
        'must exist; upgrade SGLang, and start it with --enable-lora',
      );
    }
    const remedy = `; start SGLang with --enable-lora and --max-lora-rank of at least loraR; it must be able to read ${folder}`;
    if (!isSuccess(answer)) {
      throw connection.failure(routes.load, `${describeStatus(answer)}${remedy}`);
    }
    const { success, error_message: message } = connection.read(answer, loadedSchema, {
      route: routes.load,
    });
    if (success) return;
    throw connection.failure(routes.load, `must load adapters, got "${message}"${remedy}`);
  }

  async unloadAdapter(name: string, signal: AbortSignal): Promise<void> {
    const answer = await this.connection.post(routes.unload, { lora_name: name }, { signal });
    // Status 400 means that the adapter is unknown.
    if (isSuccess(answer) || answer.status === 400) return;
    throw this.connection.failure(routes.unload, describeStatus(answer));
  }

  /** One request per sample: with one seed, SGLang's samples of a request would be the same. */
  async complete(
    request: CompletionRequest,
    signal: AbortSignal,
  ): Promise<readonly Completion[] | undefined> {
    const completions = await Promise.all(
      Array.from({ length: request.samples }, (_, k) => this.completeOne(request, k, { signal })),
    );
    const known = completions.filter((one) => one !== undefined);
    return known.length === completions.length ? known : undefined;
  }

  private async completeOne(
    request: CompletionRequest,
    sample: number,
    { signal }: SignalOptions,
  ): Promise<Completion | undefined> {
    const { connection } = this;
    const { adapter, topLogprobs: count } = request;
    const body = {
      input_ids: Array.from(request.promptTokens),
      sampling_params: samplingParams(request, sample),
      return_logprob: true,
      logprob_start_len: -1,
      ...(count !== undefined && { top_logprobs_num: count }),
      ...(adapter !== undefined && { lora_path: adapter }),
    };
    const answer = await connection.post(routes.generate, body, { signal });
    if (isUnknownAdapter(answer.text) && answer.status === 400) return undefined;
    if (isMissingRoute(answer)) {
      throw connection.failure(routes.generate, 'must be SGLang, got a server without this route');
    }
    const { meta_info: info } = connection.read(answer, generatedSchema, {
      route: routes.generate,
    });
    const { type, message } = info.finish_reason;
    if (type !== 'stop' && type !== 'length') {
      throw connection.failure(
        routes.generate,
        `must end a text with stop or length, got ${message ?? type}`,
      );
    }
    const tokens = info.output_token_logprobs;
    return {
      tokens: tokens.map(([, id]) => id),
      logprobs: tokens.map(([logprob]) => logprob),
      finishReason: type,
      ...(count !== undefined && {
        alternatives: tokens.map((_, t) => {
          const top = info.output_top_logprobs?.[t] ?? [];
          const tops = top.map(([logprob, id]) => ({ id, logprob }));
          return likelyTokens(tops, count);
        }),
      }),
    };
  }
}

function isUnknownAdapter(text: string): boolean {
  return /lora/i.test(text) && /not (loaded|found|registered)|does not exist/i.test(text);
}

/** SGLang also stops at the stop tokens of the model itself. Seeds need `--enable-deterministic-inference`. */
function samplingParams(request: CompletionRequest, sample: number) {
  const { stopStrings } = request;
  return {
    max_new_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    // −1 means all tokens.
    top_k: request.topK ?? -1,
    min_p: request.minP,
    sampling_seed: request.seed + sample,
    stop_token_ids: request.stopTokenIds,
    ...(stopStrings.length > 0 && { stop: stopStrings }),
  };
}
