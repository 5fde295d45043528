import type { PPOComponents } from '../ppo-trainer/components.ts';
import { Evaluator } from '../ppo-trainer/evaluator.ts';
import { RewardComputer, RewardModelSource } from '../reward-kl/index.ts';
import type { RunRewards } from './reward-specs.ts';

/** How a run with live human scores is evaluated. */
export interface HumanEvaluation {
  readonly canEvaluate: boolean;
  readonly warning: string;
  /** Takes the place of the evaluator. */
  replace(components: PPOComponents): Partial<PPOComponents>;
}

/** Evaluation by the other rewards, as nobody is asked to score evaluations; undefined where no
 *  person is asked at all. It has no explained variance, as values foresee people's scores too. */
export function evaluationWithoutPeople({
  rewards = [],
  rewardModel,
  live,
}: RunRewards): HumanEvaluation | undefined {
  if (live === undefined) return undefined;
  const sources = rewards.filter(({ source }) => source !== live);
  if (rewardModel) sources.push({ source: new RewardModelSource(rewardModel), weight: 1 });
  if (sources.length === 0) {
    const warning =
      'Nothing is evaluated, as nobody is asked to score evaluations and there is no other reward; validationFraction 0 trains on all prompts';
    return { canEvaluate: false, warning, replace: () => ({}) };
  }
  return {
    canEvaluate: true,
    warning: `Evaluations leave out human scores, as nobody is asked for them: they are by ${sources.map(({ source }) => source.name).join(', ')} alone`,
    replace: ({ config, policy, reference }) => ({
      makeEvaluator: (training) => {
        const computer = new RewardComputer({ config, sources });
        return new Evaluator({
          config: { ...config, ...training },
          policy,
          reference,
          scorer: (samples, context) => computer.score(samples, context),
        });
      },
    }),
  };
}
