import { z } from 'zod';
import type { Route } from './rollout-server-model.ts';

const loadSchema = z.strictObject({ lora_name: z.string(), lora_path: z.string() });
const unloadSchema = z.strictObject({ lora_name: z.string() });
const generateSchema = z.strictObject({
  input_ids: z.array(z.int()),
  return_logprob: z.literal(true),
  logprob_start_len: z.literal(-1),
  top_logprobs_num: z.int().optional(),
  lora_path: z.string().optional(),
  sampling_params: z.strictObject({
    max_new_tokens: z.int(),
    temperature: z.number(),
    top_p: z.literal(1),
    top_k: z.literal(-1),
    min_p: z.literal(0),
    sampling_seed: z.int(),
    stop_token_ids: z.array(z.int()),
    stop: z.array(z.string()).optional(),
  }),
});

/** SGLang's routes, from its documented interface. */
export const sglangRoutes: Readonly<Record<string, Route>> = {
  '/v1/models': async (_, { settings }) => [
    200,
    { object: 'list', data: [{ id: 'base', max_model_len: settings.maxLength }] },
  ],
  '/load_lora_adapter': async (body, server) => {
    const { lora_name: name, lora_path: path } = loadSchema.parse(body);
    try {
      await server.load(name, path);
    } catch {
      return [400, { success: false, error_message: `no adapter in ${path}`, loaded_adapters: {} }];
    }
    return [200, { success: true, error_message: '', loaded_adapters: { [name]: path } }];
  },
  '/unload_lora_adapter': async (body, { adapters }) => {
    const { lora_name: name } = unloadSchema.parse(body);
    if (adapters.delete(name)) return [200, { success: true, loaded_adapters: {} }];
    const message = `LoRA adapter with name ${name} does not exist.`;
    return [400, { success: false, error_message: message }];
  },
  '/generate': async (body, server) => {
    const request = generateSchema.parse(body);
    const { lora_path: adapter, sampling_params: params } = request;
    if (adapter !== undefined && !server.adapters.has(adapter)) {
      const message = `The following requested LoRA adapters are not loaded: ${adapter}`;
      return [400, { error: { message } }];
    }
    const [text] = await server.generate({
      adapter,
      tokens: request.input_ids,
      samples: 1,
      seed: params.sampling_seed,
      maxNewTokens: params.max_new_tokens,
      temperature: params.temperature,
      topP: params.top_p,
      minP: params.min_p,
      stopTokenIds: params.stop_token_ids,
      stopStrings: params.stop ?? [],
      topLogprobs: request.top_logprobs_num ?? 0,
    });
    const { tokens, logprobs, alternatives, finishReason } = text!;
    const info = {
      id: '1',
      finish_reason: { type: finishReason },
      output_token_logprobs: Array.from(tokens, (id, t) => [logprobs[t], id, null]),
      output_top_logprobs: alternatives!.map(({ ids, logprobs: top }) =>
        Array.from(ids, (id, k) => [top[k], id, null]),
      ),
    };
    return [200, { text: text!.text, output_ids: [...tokens], meta_info: info }];
  },
};
