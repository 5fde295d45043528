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
export {
  explainedVariance,
  type Interval,
  mean,
  meanInterval,
  proportionInterval,
  standardDeviation,
} from './statistics.ts';
