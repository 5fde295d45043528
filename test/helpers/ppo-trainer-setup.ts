import type { PPOConfig } from '../../src/config/ppo-config.ts';
import type { Backend } from '../../src/engine/runtime/index.ts';
import { BaseModel, PolicyModel, ValueModel } from '../../src/models/index.ts';
import { ModelTrainer } from '../../src/training/model-trainer.ts';
import { tinyTokenizer } from './generation-tiny-model.ts';
import { type ppoCases, readPpoGolden } from './ppo-golden.ts';

export type PpoTrainerSetup = Awaited<ReturnType<typeof makePpoTrainer>>;

interface SetupOptions {
  readonly withValue?: boolean;
  /** All layers by default. */
  readonly layersPerSession?: number;
  /** The processor by default. */
  readonly device?: Backend;
}

/** The models of a golden case and a trainer over them. */
export async function makePpoTrainer(
  name: (typeof ppoCases)[number],
  config: Partial<PPOConfig> = {},
  { withValue = true, layersPerSession, device }: SetupOptions = {},
) {
  const golden = await readPpoGolden(name);
  const { policyAdapter, valueAdapter, valueHead } = golden;
  const base =
    layersPerSession === undefined && device === undefined
      ? golden.base
      : new BaseModel(golden.base.architecture, golden.base.weights, {
          ...(layersPerSession !== undefined && { layersPerSession }),
          device,
        });
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
