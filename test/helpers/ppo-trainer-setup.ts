import type { PPOConfig } from '../../src/config/ppo-config.ts';
import { PolicyModel, ValueModel } from '../../src/models/index.ts';
import { ModelTrainer } from '../../src/training/model-trainer.ts';
import { tinyTokenizer } from './generation-tiny-model.ts';
import { type ppoCases, readPpoGolden } from './ppo-golden.ts';

export type PpoTrainerSetup = Awaited<ReturnType<typeof makePpoTrainer>>;

/** The models of a golden case and a trainer over them. */
export async function makePpoTrainer(
  name: (typeof ppoCases)[number],
  config: Partial<PPOConfig> = {},
  { withValue = true } = {},
) {
  const golden = await readPpoGolden(name);
  const { base, policyAdapter, valueAdapter, valueHead } = golden;
  const policy = new PolicyModel({ base, adapter: policyAdapter, tokenizer: tinyTokenizer() });
  const value = withValue
    ? new ValueModel({ base, adapter: valueAdapter, head: valueHead })
    : undefined;
  const trainer = new ModelTrainer({ config: { ...golden.config, ...config }, policy, value });
  /** Copies of all trained weights. */
  const weights = () => ({
    policy: new Map([...policyAdapter.weights].map(([key, { data }]) => [key, data.slice()])),
    value: new Map([
      ...[...valueAdapter.weights].map(([key, { data }]) => [key, data.slice()] as const),
      ['score.weight', valueHead.data.slice()] as const,
    ]),
  });
  return { golden, policy, value, trainer, weights };
}
