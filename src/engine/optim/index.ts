export {
  AdamW,
  type AdamWOptions,
  type AdamWState,
  type ParameterGroup,
  type StepOptions,
} from './adamw.ts';
export {
  clipGradNorm,
  GradientAccumulator,
  globalNorm,
  type NamedArrays,
} from './gradients.ts';
export { makeSchedule, type Schedule, scheduleNames } from './schedules.ts';
