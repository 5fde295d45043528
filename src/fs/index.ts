export { AtomicFile, syncFolder, syncTree, writeAtomically } from './atomic-file.ts';
export { appendJsonLines } from './jsonl.ts';
export { JsonlTail, type LineSink } from './jsonl-tail.ts';
export {
  parseJsonObject,
  pathExists,
  readBytes,
  readTextIfExists,
  splitLines,
  statIfExists,
} from './read.ts';
export { explainSystemError } from './system-error.ts';
