import { onTestFinished } from 'vitest';
import { type PPOConfigOptions, resolvePPOConfig } from '../../src/config/ppo-config.ts';
import { parseRolloutSpec } from '../../src/config/rollout-spec.ts';
import type { GenerationOptions } from '../../src/generation/index.ts';
import { PolicyModel } from '../../src/models/index.ts';
import { RolloutServer, type RolloutServerOptions } from '../../src/rollout-server/index.ts';
import { randomAdapter } from './pass-checks.ts';
import { tinyLoaded } from './ppo-run.ts';
import { startRolloutServer } from './rollout-server.ts';

const { base, tokenizer } = tinyLoaded;
const prompts = [Int32Array.of(2, 3, 4), Int32Array.of(5), Int32Array.of(6, 7)];
export const generateRoute = '/inference/v1/generate';

export type ServerOptions = Parameters<typeof startRolloutServer>[1];

/** A server, and a client that pushes the adapter of a random policy and gives up quickly. */
export async function setupRollouts(
  serverOptions: ServerOptions = {},
  options: Partial<RolloutServerOptions> & { readonly settings?: PPOConfigOptions } = {},
) {
  const server = await startRolloutServer(tinyLoaded, serverOptions);
  const adapter = randomAdapter(base, {});
  const policy = new PolicyModel({ base, tokenizer, adapter });
  const { settings, ...rest } = options;
  const client = new RolloutServer({
    ...{ policy, tokenizer, config: resolvePPOConfig(settings) },
    spec: parseRolloutSpec(server.rollouts)!,
    ...{ backoff: 1e-3, retries: 2, timeout: 20, ...rest },
  });
  onTestFinished(() => client.dispose());
  const rollOut = (generation: GenerationOptions = {}, signal?: AbortSignal) =>
    client.rollOut({ prompts, generation: { maxNewTokens: 6, ...generation } }, { signal });
  return { server, client, policy, adapter, rollOut };
}
