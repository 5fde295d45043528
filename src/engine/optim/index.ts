export {
  AdamW,
  type AdamWOptions,
  type AdamWState,
  type ParameterGroup,
  type StepOptions,
} from './adamw.ts';
export { clipGradNorm, GradientAccumulator, globalNorm } from './gradients.ts';
export type { NamedArrays } from './named-arrays.ts';
export { makeSchedule, type Schedule, scheduleNames } from './schedules.ts';
