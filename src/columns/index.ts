export {
  type Column,
  concatFloats,
  concatInts,
  expectLengths,
  lengthsOf,
  offsetsOf,
  splitByLengths,
  splitByOffsets,
} from './columns.ts';
export { explainedVariance, mean, standardDeviation } from './statistics.ts';
