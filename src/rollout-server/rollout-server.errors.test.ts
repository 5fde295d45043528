import { describe, expect, test } from 'vitest';
import {
  generateRoute,
  type ServerOptions,
  setupRollouts,
} from '../../test/helpers/rollout-client.ts';
import type { ReceivedRequest, ServerSettings } from '../../test/helpers/rollout-server-model.ts';
import { parseRolloutSpec } from '../config/rollout-spec.ts';

describe('RolloutServer rejects', () => {
  const reply = (route: string, status: number, text = '') => ({
    intercept: (request: ReceivedRequest) =>
      request.route === route ? { status, text } : undefined,
  });
  const change = (edit: (choice: Choice) => void): Partial<ServerSettings> => ({
    change: ({ route }, body) => {
      if (route === generateRoute) (body as { choices: Choice[] }).choices.forEach(edit);
      return body;
    },
  });
  interface Choice {
    token_ids: number[];
    finish_reason: string;
    logprobs: { content: { token_id: number; logprob: number | null }[] };
  }
  const notFound = '{"detail":"Not Found"}';

  test.each<[string, ServerOptions, string]>([
    [
      'an old version',
      { version: '0.11.2' },
      '/version must be version 0.32 or newer, got 0.11.2; upgrade vLLM',
    ],
    [
      'an unknown version',
      { version: 'main' },
      '/version must be version 0.32 or newer, got main; upgrade vLLM',
    ],
    [
      'another server',
      reply('/version', 404, notFound),
      '/version must be vLLM, got a server without this route',
    ],
    [
      'a server without scale-out',
      reply(generateRoute, 403, '{"error":"disabled"}'),
      `${generateRoute} must exist, got status 403; start vLLM with --enable-scale-out`,
    ],
    [
      'a server without the route',
      reply(generateRoute, 404, notFound),
      `${generateRoute} must exist, got status 404; start vLLM with --enable-scale-out`,
    ],
    [
      'a server without adapters at run time',
      reply('/v1/load_lora_adapter', 404, notFound),
      '/v1/load_lora_adapter must exist; start vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True',
    ],
    [
      'an adapter that does not fit',
      reply(
        '/v1/load_lora_adapter',
        500,
        '{"error":{"message":"LoRA rank 16 is greater than max_lora_rank 8"}}',
      ),
      '/v1/load_lora_adapter must respond with status 200, got 500 ({"error":{"message":"LoRA rank 16 is greater than max_lora_rank 8"}}); start vLLM with --enable-lora, and with --max-lora-rank of at least loraR',
    ],
    [
      'a folder that the server cannot read',
      reply('/v1/load_lora_adapter', 404, '{"error":{"message":"No adapter found"}}'),
      'set rolloutFolder to a folder that both machines share',
    ],
    [
      'a shorter context',
      { maxLength: 8 },
      'must allow texts of 9 tokens, the length of prompt 0 with its response, got a limit of 8; restart it with a larger limit or lower maxNewTokens',
    ],
    [
      'status 500 until the end',
      reply(generateRoute, 500, 'engine dead'),
      `${generateRoute} must respond with status 200, got 500 (engine dead), tried 3 times`,
    ],
    [
      'status 400',
      reply(generateRoute, 400, 'too long'),
      `${generateRoute} must respond with status 200, got 400 (too long)`,
    ],
    [
      'malformed JSON',
      reply(generateRoute, 200, '{"choices": ['),
      `${generateRoute} must respond with JSON`,
    ],
    [
      'missing fields',
      reply(generateRoute, 200, '{"choices": [{}]}'),
      `${generateRoute} must respond with the known fields: "choices.0.index"`,
    ],
    [
      'too few responses',
      reply(generateRoute, 200, '{"choices": []}'),
      'must generate 1 responses per prompt, got 0',
    ],
    [
      'tokens outside of the vocabulary',
      change(({ token_ids, logprobs }) => {
        token_ids[1] = 60;
        logprobs.content[1]!.token_id = 60;
      }),
      'must generate tokens below 60, the size of the vocabulary, got 60; serve the base model of this run',
    ],
    [
      'tokens that are no numbers',
      change((choice) => {
        choice.token_ids[1] = 0.5;
      }),
      'must respond with the known fields: "choices.0.token_ids.1"',
    ],
    [
      'too few logprobs',
      change(({ logprobs }) => void logprobs.content.pop()),
      'must report one logprob per token, got 5 for 6 tokens',
    ],
    [
      'logprobs of other tokens',
      change(({ logprobs }) => {
        logprobs.content[0]!.token_id = 59;
      }),
      `${generateRoute} must report the logprobs of its own tokens, got those of others`,
    ],
    [
      'logits instead of logprobs',
      change(({ logprobs }) => {
        logprobs.content[0]!.logprob = 3.5;
      }),
      'must report logprobs of at most 0, got 3.5',
    ],
    [
      'missing logprobs',
      change(({ logprobs }) => {
        logprobs.content[0]!.logprob = null;
      }),
      'must respond with the known fields: "choices.0.logprobs.content.0.logprob"',
    ],
    [
      'no tokens',
      change((choice) => {
        choice.token_ids = [];
        choice.logprobs.content = [];
      }),
      'must generate at least one token per response, got none',
    ],
    [
      'an unknown end',
      change((choice) => {
        choice.finish_reason = 'abort';
      }),
      'must end a text with stop or length, got abort',
    ],
  ])('%s', async (_, serverOptions, message) => {
    const { rollOut, server } = await setupRollouts(serverOptions);
    const error = await rollOut({ stopTokenIds: [] }).catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toContain(`Cannot generate with vLLM: ${server.url}`);
    expect((error as Error).message).toContain(message);
  });

  test.each(['vllm', 'sglang'] as const)('%s if logprobs ignore the temperature', async (kind) => {
    const settings = { temperature: 0.7 };
    const { client } = await setupRollouts({ kind, rawLogprobs: true }, { settings });
    await expect(client.connect()).rejects.toThrow(
      /must report logprobs of the distribution that it samples from, got a highest logprob of -\d.\d+ at temperature 1 and -\d.\d+ at 0.01; start (vLLM with --logprobs-mode processed_logprobs|SGLang without SGLANG_RETURN_ORIGINAL_LOGPROB)/,
    );
  });

  test('a server that cannot be reached', async () => {
    const spec = parseRolloutSpec('vllm:http://127.0.0.1:9')!;
    const { client } = await setupRollouts({}, { spec });
    await expect(client.connect()).rejects.toThrow(
      /^Cannot generate with vLLM: http:\/\/127.0.0.1:9\/version must be reachable, got .*, tried 3 times$/,
    );
  });

  test('a server that forgets adapters at once', async () => {
    const { rollOut, server } = await setupRollouts();
    server.settings.intercept = ({ route }) => {
      if (route === generateRoute) server.restart();
      return undefined;
    };
    await expect(rollOut()).rejects.toThrow(
      'must keep the adapter that it loaded, lost it 3 times',
    );
  });
});
