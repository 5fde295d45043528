export { concatExperiences, type Experience, selectSequences } from './experience.ts';
export {
  type BufferConfig,
  ExperienceBuffer,
  type ExperienceBufferOptions,
  type MiniBatchOptions,
  type OverflowPolicy,
  type SamplingStrategy,
} from './experience-buffer.ts';
