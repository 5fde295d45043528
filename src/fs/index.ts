export {
  AtomicFile,
  makeFolder,
  syncFolder,
  syncFolderSync,
  syncTree,
  writeAtomically,
  writeAtomicallySync,
  writeFolderAtomically,
} from './atomic-file.ts';
export { appendJsonLines } from './jsonl.ts';
export { JsonlTail, type LineSink } from './jsonl-tail.ts';
export {
  expectOwnFile,
  openOwnFile,
  readOwnText,
  readOwnTextSync,
} from './own-file.ts';
export { parseJsonObject } from './parse-json.ts';
export {
  hashFile,
  pathExists,
  readBytes,
  readTextIfExists,
  splitLines,
  statIfExists,
} from './read.ts';
export { expectRegular, readRegularText, UnusableFileError } from './regular-file.ts';
export { runInSandbox } from './sandbox.ts';
export { shellQuote, shortPath } from './shell-path.ts';
export { describeSystemError, explainSystemError, WriteError } from './system-error.ts';
export { startThread } from './thread.ts';
