import { expect, test } from 'vitest';
import { findPatterns } from './static-counts.ts';

const patternsOf = (text: string) => findPatterns([{ path: 'a.ts', text }]);

test('a layer loop awaits a run and mentions layers', () => {
  const text = `async function forward() {
    for (let i = 0; i < config.num_hidden_layers; i++) await session.run(feeds);
    for (const name of layers) print(name);
    for (const batch of batches) await session.run(batch);
  }`;
  expect(patternsOf(text).layerLoops).toEqual(['a.ts:2 forward']);
});

test('a train loop awaits a step and evaluates or saves in between', () => {
  const text = `async function run() {
    while (true) { await this.evaluateIfDue(); await this.makeStep(); }
    while (true) { await this.makeStep(); }
    for (const step of steps) { await save(step); }
  }`;
  expect(patternsOf(text).trainLoops).toEqual(['a.ts:2 run']);
});

test('a state-to-row mapping starts at the last token of a prompt', () => {
  const text = `function rows() { return [prompts[i]!.length - 1, promptTokens.length - 1]; }
    const last = (tokens) => tokens.length - 1;`;
  expect(patternsOf(text).stateToRowMappings).toEqual(['a.ts rows']);
});

test('a generate-and-gather loop puts finished texts into a list', () => {
  const text = `async function gather() {
    for await (const { finished } of stream) if (finished) texts.push(finished);
    for await (const { finished } of stream) texts[finished.prompt] = finished;
    for await (const { token } of stream) print(token);
  }`;
  expect(patternsOf(text).generateAndGatherLoops).toEqual(['a.ts:2 gather', 'a.ts:3 gather']);
});
