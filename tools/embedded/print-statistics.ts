/** Prints what the small world is like: lengths, diversity, and what answers score.
 *  npx tsx tools/embedded/print-statistics.ts [--posts 2000] */
import { parseArgs } from 'node:util';
import { Tokenizer } from '../../src/base-setup/index.ts';
import { goldScore, makeSplitPost, type Post } from '../../src/embedded/world/index.ts';
import { randomStream } from '../../src/engine/random/index.ts';
import { references, type Strategy, shortcuts } from './strategies.ts';
import { makeTokenizerConfig, makeTokenizerJson, specialTokens } from './tokenizer-files.ts';
import { trainBpe } from './train-bpe.ts';
import { makeWorldTexts } from './world-texts.ts';

const { values } = parseArgs({ options: { posts: { type: 'string', default: '2000' } } });
const posts = Array.from({ length: Number(values.posts) }, (_, number) =>
  makeSplitPost('sft', { seed: 0, number }),
);

function describe(numbers: readonly number[], digits = 1): string {
  const mean = numbers.reduce((sum, x) => sum + x, 0) / numbers.length;
  const variance = numbers.reduce((sum, x) => sum + (x - mean) ** 2, 0) / numbers.length;
  const largest = numbers.reduce((a, b) => Math.max(a, b));
  const [m, s, l] = [mean, Math.sqrt(variance), largest].map((x) => x.toFixed(digits));
  return `${m} ± ${s}, at most ${l}`;
}

function answer({ name, write }: Strategy, post: Post, number: number): string {
  return write(post, randomStream(0, 'answer', name, number));
}

function printLengths(vocabSize: number): void {
  const texts = makeWorldTexts('pretraining', { seed: 0, count: 10_000 });
  const bpe = trainBpe(texts, { vocabSize, specialTokens });
  const tokenizer = new Tokenizer({
    tokenizer: makeTokenizerJson(bpe),
    config: makeTokenizerConfig({ contextLength: 256 }),
    model: {},
    generation: {},
    chatTemplate: undefined,
  });
  const count = (text: string) => tokenizer.encode(text).length;
  console.log(`Tokens, vocabulary of ${vocabSize}`);
  console.log(`  posts: ${describe(posts.map(({ text }) => count(text)))}`);
  for (const strategy of references) {
    const lengths = posts.map((post, i) => count(` ${answer(strategy, post, i)}`) + 1);
    console.log(`  ${strategy.name} with end: ${describe(lengths)}`);
  }
}

/** H = −Σ p log₂ p over how often each item comes. */
function entropy(items: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return [...counts.values()]
    .map((count) => count / items.length)
    .reduce((sum, p) => sum - p * Math.log2(p), 0);
}

function printDiversity(): void {
  const keys = posts.map(({ facts }) => facts.map(({ wording }) => wording).join('|'));
  const words = posts.flatMap(({ text }) => text.split(/\s+/));
  console.log(`Different of ${posts.length} posts`);
  console.log(`  texts: ${new Set(posts.map(({ text }) => text)).size}`);
  console.log(`  sets of facts: ${new Set(keys).size}`);
  console.log(`  words: ${new Set(words).size}, of ${entropy(words).toFixed(2)} bits each`);
  for (const [i, { kind }] of posts[0]!.facts.entries()) {
    const wording = posts.map(({ facts }) => facts[i]!.wording);
    console.log(`  ${kind}: ${new Set(wording).size}, ${entropy(wording).toFixed(2)} bits`);
  }
}

function printScores(title: string, strategies: readonly Strategy[]): void {
  console.log(title);
  for (const strategy of strategies) {
    const { name, finished } = strategy;
    const scores = posts.map((post, i) => goldScore(post, answer(strategy, post, i), { finished }));
    const parts = (['coverage', 'brevity', 'invention', 'wellFormed'] as const).map((part) => {
      const mean = scores.reduce((sum, score) => sum + score[part], 0) / scores.length;
      return `${part} ${mean.toFixed(2)}`;
    });
    console.log(
      `  ${name}: ${describe(
        scores.map(({ score }) => score),
        2,
      )} (${parts.join(', ')})`,
    );
  }
}

for (const vocabSize of [512, 768, 964]) printLengths(vocabSize);
printDiversity();
printScores('Gold scores', references);
printScores('Gold scores of shortcuts', shortcuts);
