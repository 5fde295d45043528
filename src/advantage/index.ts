export {
  AdvantageComputer,
  type AdvantageConfig,
  type AdvantageEstimator,
  type AdvantageInput,
  type Advantages,
  advantageEstimators,
  type StepAdvantages,
} from './advantage-computer.ts';
export { type GaeOptions, gaeAdvantages, returnsOf, rewardToGo, tdErrors } from './gae.ts';
export type { GroupedRewards } from './group-relative.ts';
export { ValueAdder } from './value-adder.ts';
