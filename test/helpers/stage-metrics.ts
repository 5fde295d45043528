import type { TrainEvent } from '../../src/loop/events.ts';
import { RewardTrainer, SFTTrainer } from '../../src/stages/index.ts';
import { tinyLoaded } from './ppo-run.ts';

/** The names of the metrics of one step of a stage, including validation. */
export async function stageMetrics(stage: 'sft' | 'reward'): Promise<string[]> {
  const names: string[] = [];
  const onEvent = (event: TrainEvent) => {
    if ('metrics' in event) names.push(...Object.keys(event.metrics));
  };
  const config = { maxSteps: 1, batchSize: 1, loraR: 4 };
  const [chosen, rejected] = [Int32Array.of(5, 6, 7), Int32Array.of(8, 9)];
  const learned = [{ tokens: chosen, learned: Int32Array.of(1, 2) }];
  const pairs = [{ chosen, rejected }];
  const model = tinyLoaded;
  if (stage === 'sft') {
    await new SFTTrainer(config, { model }).train(learned, { validation: learned, onEvent });
  } else await new RewardTrainer(config, { model }).train(pairs, { validation: pairs, onEvent });
  return names;
}
