export type { Experience } from './experience.ts';
export {
  ExperienceBuffer,
  type ExperienceBufferOptions,
  type MiniBatchOptions,
  type SamplingStrategy,
} from './experience-buffer.ts';
export type { PassStrategy } from './sampling-pass.ts';
export { concatExperiences, selectSequences } from './select-sequences.ts';
