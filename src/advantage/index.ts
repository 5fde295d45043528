export {
  AdvantageComputer,
  type AdvantageConfig,
  type AdvantageInput,
  type Advantages,
} from './advantage-computer.ts';
export {
  type AdvantageEstimator,
  advantageEstimators,
  type EstimatorConfig,
  type EstimatorInput,
  type StepAdvantages,
} from './estimators.ts';
export { type GaeOptions, gaeAdvantages } from './gae-advantage.ts';
export { returnsOf, rewardToGo } from './reward-to-go.ts';
export { type TdErrorOptions, tdErrors } from './td-error.ts';
export { ValueAdder } from './value-adder.ts';
