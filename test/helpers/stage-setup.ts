import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const subjects = ['the cat', 'the dog', 'a cat', 'a dog'];
const verbs = ['sees', 'likes', 'runs'];

/** Prompts of the tiny tokenizer's words, all different. */
const prompts = subjects.flatMap((subject) => verbs.map((verb) => `${subject} ${verb}`));

/** Writes rows as JSON Lines and returns the path. */
export function writeRows(folder: string, name: string, rows: readonly object[]): string {
  const path = join(folder, name);
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'));
  return path;
}

/** Twelve prompts, all with the same completion. */
export function completionRows(): object[] {
  return prompts.map((prompt) => ({ prompt, completion: ' and the cat runs' }));
}

/** Twelve pairs: the side with cats is preferred, and mostly the shorter one. */
export function pairRows(): { prompt: string; chosen: string; rejected: string }[] {
  return prompts.map((prompt, i) => ({
    prompt,
    chosen: i % 4 === 0 ? ' cat cat cat cat' : ' cat cat',
    rejected: ' dog dog dog',
  }));
}

/** The lines of a log, without timings. */
export function readLog(run: string, name: string): object[] {
  const lines = readFileSync(join(run, name), 'utf8').trimEnd().split('\n');
  return lines.map((line) =>
    JSON.parse(line, (key, value) => (/^(timing|perf)\//.test(key) ? 0 : value)),
  );
}
