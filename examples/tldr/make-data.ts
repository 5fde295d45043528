/** Writes the data of the three stages into `data`: npx tsx examples/tldr/make-data.ts */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomStream } from 'proximal/engine';
// The demo's world is in this repository, but not in the package.
import * as world from '../../src/embedded/world/index.ts';

const seed = 1;
const folder = join(import.meta.dirname, 'data');

const posts = (split: world.Split, count: number) =>
  Array.from({ length: count }, (_, number) => world.makeSplitPost(split, { seed, number }));

function write(name: string, rows: readonly object[]): void {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
  writeFileSync(join(folder, name), lines.join(''));
  console.log(`${name}: ${rows.length} rows`);
}

mkdirSync(folder, { recursive: true });
write(
  'demonstrations.jsonl',
  posts('sft', 512).map((post, i) => ({
    prompt: post.text,
    completion: ` ${world.makeDemonstration(post, { random: randomStream(seed, 'writer', i) })}`,
  })),
);
write(
  'prompts.jsonl',
  posts('ppo', 1280).map(({ text }) => ({ prompt: text })),
);
// The facts are for the gold scorer.
write(
  'validation.jsonl',
  posts('validation', 64).map(({ text, facts }) => ({ prompt: text, facts })),
);
