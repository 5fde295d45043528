import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Architecture, readArchitecture } from '../src/models/decoder/families/index.ts';
import { weightShapes } from '../src/models/decoder/weight-shapes.ts';
import { qwen3Folder } from './fixtures/tokenizer/folders.ts';
import { root } from './helpers/doc-snippets.ts';
import { commandsOf, ExampleProject } from './helpers/example-project.ts';

const project = new ExampleProject();
const at = (path: string) => join(project.path, path);

/** Flags for a short PPO run. */
const short = ['--max-steps', '2', '--max-new-tokens', '6', '--eval-interval', '0'];
const quick = [...short, '--eval-best-of', '2', '--no-stop-on-collapse'];

/** Metrics of each step of a run. */
function metricsOf(run: string): Record<string, number>[] {
  const lines = readFileSync(at(`${run}/metrics.jsonl`), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => JSON.parse(line));
}

const configOf = (run: string) => JSON.parse(readFileSync(at(`${run}/config.json`), 'utf8'));

describe('the examples', () => {
  beforeAll(() => project.fill());
  afterAll(() => project.remove());

  test('minimal-ppo.ts fits on a page and learns', () => {
    const code = readFileSync(join(root, 'examples/minimal-ppo.ts'), 'utf8');
    expect(code.split('\n').length).toBeLessThan(121);
    const lines = project.run('npx tsx examples/minimal-ppo.ts').trimEnd().split('\n');
    const rewards = lines.map((line) => Number(/^step \d+: reward ([\d.]+)$/.exec(line)![1]));
    expect(rewards).toHaveLength(12);
    // One word in ten is "cat" at first.
    expect(rewards[0]).toBeLessThan(0.2);
    expect(rewards.at(-1)).toBeGreaterThan(0.4);
  });

  test('minimal-ppo.ts accepts a model', () => {
    const printed = project.run('npx tsx examples/minimal-ppo.ts Qwen/Qwen3-0.6B-Base');
    expect(printed).toMatch(/^(step \d+: reward 0\.\d{3}\n){12}$/);
  });

  test('library.ts prints each epoch and both evaluations, and saves an adapter', () => {
    const lines = project.run('npx tsx examples/library.ts').trimEnd().split('\n');
    const number = '-?\\d+\\.\\d{3}';
    const epochs = [1, 2, 3, 4, 5].map((n) => `epoch ${n}: reward ${number}, KL ${number}`);
    const validation = `on validation: ${number}`;
    const expected = [validation, ...epochs, validation, 'All steps are done after 5 steps'];
    expect(lines).toEqual(expected.map((line) => expect.stringMatching(new RegExp(`^${line}$`))));
    expect(existsSync(at('runs/library/adapter_model.safetensors'))).toBe(true);
  });

  test('custom-reward adds up its two rewards with their weights', () => {
    const [train, evaluate] = commandsOf('custom-reward') as [string, string];
    project.run(train, ...quick);
    const [first] = metricsOf('runs/custom-reward');
    const [plain, onTopic] = [first!['rewards/plain/mean']!, first!['rewards/onTopic/mean']!];
    expect(plain).toBeGreaterThan(0);
    expect(onTopic).toBe(0);
    // Every response is truncated, which costs 1.
    expect(first!['objective/scores']).toBeCloseTo(plain + 0.5 * onTopic - 1, 5);
    expect(project.run(evaluate)).toContain('Performance on 2 prompts');
  });

  test('mcp calls the tools of a server over stdio, and ends with the connection', () => {
    const lines = [
      "import environment from './examples/mcp/environment.ts';",
      'const say = (input: object) => JSON.stringify({ name: "multiply", arguments: input });',
      'const ask = (input: object) => environment.answer({',
      '  messages: [{ role: "assistant", content: "<tool_call>" + say(input) + "</tool_call>" }],',
      '  turn: 0, row: {}, truncated: false, signal: new AbortController().signal,',
      '});',
      'console.log(JSON.stringify(environment.tools));',
      'for (const input of [{ a: 12, b: 34 }, { a: "x" }]) {',
      '  const { tool, output, error = "none" } = (await ask(input))!.calls![0]!;',
      '  console.log(tool, error, output);',
      '}',
      'await environment.close!();',
    ];
    writeFileSync(at('call-tools.ts'), lines.join('\n'));
    const [described, good, bad] = project.run('npx tsx call-tools.ts').split('\n');
    expect(JSON.parse(described!)).toMatchObject([
      { function: { name: 'multiply', description: 'Multiplies two numbers' } },
    ]);
    expect(good).toBe('multiply none 408');
    expect(bad).toMatch(/^multiply exception \{"error":".*(expected|Invalid|validation).*/i);
  });

  test('mcp trains with the tools', () => {
    const [, train] = commandsOf('mcp') as [string, string];
    const snapshots = at('hub/models--Qwen--Qwen3-0.6B-Base/snapshots');
    cpSync(join(snapshots, readdirSync(snapshots)[0]!), at('agent'), { recursive: true });
    writeFileSync(
      at('agent/chat_template.jinja'),
      "{% for message in messages %}{{ message.role ~ ': ' ~ message.content ~ ' ' }}{% endfor %}",
    );
    project.run(train, '--model', 'agent', ...quick);
    const [first] = metricsOf('runs/mcp');
    expect(first!['episodes/turns']).toBeGreaterThanOrEqual(1);
  });

  test('qwen3 plans a run of the real shape in less than 4.5 GB', () => {
    mkdirSync(at('qwen3'));
    copyFileSync(join(qwen3Folder, 'tokenizer.json'), at('qwen3/tokenizer.json'));
    writeFileSync(at('qwen3/config.json'), JSON.stringify(qwen3Config));
    writeEmptyWeights(at('qwen3/model.safetensors'), readArchitecture(qwen3Config));
    const post = (i: number) => `POST: ${i}${' It is a long story.'.repeat(46)}\nTL;DR:`;
    const rows = Array.from({ length: 600 }, (_, i) => ({ prompt: post(i), completion: ' Long.' }));
    project.cacheDataset('trl-lib/tldr', rows);
    const [dryRun] = commandsOf('qwen3') as [string];
    const plan = JSON.parse(project.run(dryRun, '--model', at('qwen3'), '--json'));
    // Rank 16 on q, k, v, o of 28 layers: 28 · 16 · (3072 + 2048 + 2048 + 3072).
    expect(plan).toMatchObject({
      trainable: { policy: 4_587_520, value: 4_588_545 },
      ...{ unit: 'prompts', train: 484, validation: 16 },
      rewards: ['rouge:reference=completion', 'repetitionPenalty:weight=0.5'],
      ...{ totalSteps: 61, responsesPerStep: 8, optimizerStepsPerStep: 4, evaluations: 5 },
    });
    expect(plan.memory.generation).toBeLessThan(4.5e9);
    expect(plan.memory.training).toBeLessThan(4.5e9);
  });

  test('qwen3 trains and evaluates with 8 bits', () => {
    const [, train, evaluate] = commandsOf('qwen3') as [string, string, string];
    const rows = Array.from({ length: 32 }, (_, i) => ({
      prompt: `${i} TL;DR:`,
      completion: ' a',
    }));
    project.cacheDataset('trl-lib/tldr', rows);
    project.run(train, ...quick);
    expect(configOf('runs/qwen3').rolloutPrecision).toBe('int8');
    const [first, second] = metricsOf('runs/qwen3');
    expect(first).toMatchObject({ episode: 8, 'policy/optimizer_steps': 4 });
    expect(second!['rewards/rouge/mean']).toBeGreaterThanOrEqual(0);
    expect(project.run(evaluate)).toContain('Performance on 1 prompt');
  });

  test('grpo has correct answers and eight responses per question', () => {
    const rows = readFileSync(at('examples/grpo/prompts.jsonl'), 'utf8').trimEnd().split('\n');
    expect(rows).toHaveLength(40);
    for (const { question, answer } of rows.map((row) => JSON.parse(row))) {
      expect(question).toMatch(/^[\d+*() -]+$/);
      // biome-ignore lint/security/noGlobalEval: The line above allows only arithmetic.
      expect([question, answer]).toEqual([question, eval(question)]);
    }
    const [train, evaluate] = commandsOf('grpo') as [string, string];
    project.run(train, ...quick);
    const [first] = metricsOf('runs/grpo');
    expect(first).toMatchObject({ episode: 32, 'policy/optimizer_steps': 4 });
    expect(first).not.toHaveProperty('loss/value_avg');
    expect(project.run(evaluate)).toContain('Performance on 4 prompts');
  });

  test('continue starts policy and reference from the adapter of SFT', () => {
    const [sft, train, evaluate] = commandsOf('continue') as [string, string, string];
    project.run(sft, '--num-epochs', '1', '--learning-rate', '1e-2');
    project.run(train, ...quick);
    const run = 'examples/continue/runs/ppo';
    expect(configOf(run).adapter).toBe(at('examples/continue/runs/sft/model'));
    const [first] = metricsOf(run);
    expect(first!['objective/kl']).toBeCloseTo(0, 4);
    expect(first!['rewards/length/mean']).toBeGreaterThan(0);
    expect(project.run(evaluate)).toContain('Performance on 2 prompts');
  });

  test('tldr goes through three stages to the gold scorer', () => {
    const [data, sft, reward, train, evaluate, judge] = commandsOf('tldr') as [
      ...[string, string, string, string, string, string],
    ];
    expect(project.run(data)).toBe(
      'demonstrations.jsonl: 512 rows\nprompts.jsonl: 1280 rows\nvalidation.jsonl: 64 rows\n',
    );
    project.run(sft, '--max-steps', '2', '--max-rows', '40');
    project.run(reward, '--max-steps', '2', '--max-rows', '40');
    const few = [
      '--max-new-tokens',
      '24',
      '--batch-size',
      '8',
      '--mini-batch-size',
      '8',
      '--max-prompts',
      '16',
    ];
    project.run(train, ...quick, ...few);
    expect(metricsOf('examples/tldr/runs/ppo')).toHaveLength(2);
    expect(project.run(evaluate)).toContain('Performance on 16 prompts');
    const { policy } = JSON.parse(project.run(judge, '--json'));
    // The total reward also has the missing-stop penalty.
    const [gold] = Object.values<{ mean: number }>(policy.rewards);
    expect(gold!.mean).toBeGreaterThan(0);
    expect(gold!.mean).toBeLessThanOrEqual(1);
  });
});

const examples = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' });

test.each(examples.filter((path) => path.endsWith('README.md')))(
  'examples/%s links only to existing files',
  (path) => {
    const file = join(root, 'examples', path);
    const links = [...readFileSync(file, 'utf8').matchAll(/\]\(([^)#:]+)\)/g)];
    for (const [, target] of links) {
      expect(existsSync(join(dirname(file), target!)), target).toBe(true);
    }
  },
);

test('the index lists every example', () => {
  const index = readFileSync(join(root, 'examples/README.md'), 'utf8');
  for (const name of examples.filter((path) => /^[^/]+$/.test(path) && path !== 'README.md')) {
    expect(index).toContain(`| [${name}](${name}`);
  }
});

/** Writes a safetensors file of zeros that takes no space on disk. */
function writeEmptyWeights(file: string, architecture: Architecture): void {
  let end = 0;
  const tensors = [...weightShapes(architecture)].map(([name, shape]) => {
    const start = end;
    end += 2 * shape.reduce((product, size) => product * size, 1);
    return [name, { dtype: 'BF16', shape, data_offsets: [start, end] }] as const;
  });
  const header = Buffer.from(JSON.stringify(Object.fromEntries(tensors)));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  writeFileSync(file, Buffer.concat([length, header]));
  truncateSync(file, 8 + header.length + end);
}

/** The config.json of Qwen3-0.6B-Base. */
const qwen3Config = {
  model_type: 'qwen3',
  vocab_size: 151_936,
  hidden_size: 1024,
  intermediate_size: 3072,
  num_hidden_layers: 28,
  num_attention_heads: 16,
  num_key_value_heads: 8,
  head_dim: 128,
  max_position_embeddings: 32_768,
  rms_norm_eps: 1e-6,
  rope_theta: 1_000_000,
  tie_word_embeddings: true,
  eos_token_id: 151_643,
};
