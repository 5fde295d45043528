export { AtomicFile, syncFolder, syncTree, writeAtomically } from './atomic-file.ts';
export { appendJsonLines } from './jsonl.ts';
export { JsonlTail, type LineSink, type LogChange } from './jsonl-tail.ts';
export {
  type Line,
  parseJsonObject,
  pathExists,
  readBytes,
  readTextIfExists,
  splitLines,
  statIfExists,
} from './read.ts';
export { explainSystemError } from './system-error.ts';
