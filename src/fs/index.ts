export { AtomicFile, syncFolder, syncTree, writeAtomically } from './atomic-file.ts';
export { appendJsonLines } from './jsonl.ts';
export { JsonlTail, type LineSink } from './jsonl-tail.ts';
export {
  hashFile,
  parseJsonObject,
  pathExists,
  readBytes,
  readTextIfExists,
  splitLines,
  statIfExists,
} from './read.ts';
export { shellQuote, shortPath } from './shell-path.ts';
export { describeSystemError, explainSystemError } from './system-error.ts';
