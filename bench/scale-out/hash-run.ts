import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folders of a run with weights: the final models, and those of its checkpoints with their moments. */
const weightFolders = ['model', 'last', 'checkpoints'];
const logNames = ['metrics.jsonl', 'samples.jsonl', 'tokens.jsonl', 'evaluations.jsonl'];

/** SHA-256 of everything that a run computed: weights, and logs without times and memory. */
export function hashRun(run: string): Record<string, string> {
  const isThere = (name: string) => existsSync(join(run, name));
  const weights = weightFolders.filter(isThere).flatMap((folder) =>
    readdirSync(join(run, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.safetensors'))
      .map((file) => [`${folder}/${file}`, readFileSync(join(run, folder, file))] as const),
  );
  const logs = logNames
    .filter(isThere)
    .map((file) => [file, withoutTiming(readFileSync(join(run, file), 'utf8'))] as const);
  return Object.fromEntries(
    [...weights, ...logs].map(([file, bytes]) => [
      file,
      createHash('sha256').update(bytes).digest('hex'),
    ]),
  );
}

function withoutTiming(text: string): string {
  const isTiming = (key: string) => /^(timing|perf)\//.test(key);
  const lines = text.trimEnd().split('\n');
  return lines
    .map((line) => JSON.parse(line, (key, value) => (isTiming(key) ? undefined : value)))
    .map((value) => JSON.stringify(value))
    .join('\n');
}
