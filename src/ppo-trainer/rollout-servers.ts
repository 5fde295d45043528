import { parseRolloutSpec } from '../config/rollout-spec.ts';
import { RolloutServer, withServerRollouts } from '../rollout-server/index.ts';
import type { RolloutServers } from './components.ts';
import { describeBase } from './roles.ts';

/** Rollouts by vLLM and SGLang, whose adapters are published as files. */
export const rolloutServers: RolloutServers = {
  create: ({ config, policy, model }) =>
    new RolloutServer({
      ...{ config, policy, tokenizer: model.tokenizer, about: describeBase(model) },
      spec: parseRolloutSpec(config.rollouts!)!,
      folder: config.rolloutFolder,
    }),
  withServerRollouts,
};
