import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeSplitPost } from '../src/embedded/world/index.ts';

/** Writes prompts of the embedded world and a reward for short responses into a folder. */
export function writePostInputs(folder: string, count: number): void {
  const lines = Array.from({ length: count }, (_, number) => {
    const { text } = makeSplitPost('ppo', { seed: 0, number });
    return `${JSON.stringify({ prompt: text })}\n`;
  });
  writeFileSync(join(folder, 'prompts.jsonl'), lines.join(''));
  writeFileSync(join(folder, 'reward.mjs'), 'export default (s) => -s.response.length / 100;\n');
}
