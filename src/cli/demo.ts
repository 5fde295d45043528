import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { readMetrics, writeDemoReport } from '../demo/demo-report.ts';
import { type DemoResult, type DemoStage, KL_BOUND, runDemo } from '../demo/demo-run.ts';
import type { GoldSample } from '../demo/gold-evaluation.ts';
import { defaultOutput } from '../run/run-config-files.ts';
import { untilInterrupted } from './exit.ts';
import { formatSeconds, shellQuote, shortPath } from './format.ts';
import { ProgressView } from './progress.ts';
import { bold, dim, formatTable, type Output, stripControls } from './terminal.ts';

const about = `Watch a small language model learn to summarise posts, without a network: a reward model is
trained on preferences, PPO optimises its score, and a gold scorer that training never sees measures the result.`;

interface DemoFlags {
  readonly output?: string;
  readonly seed: number;
  readonly short?: boolean;
}

/** `proximal demo`: the whole pipeline on the embedded model. */
export function addDemo(command: Command): void {
  command
    .description(about)
    .option('--output <folder>', 'Folder of the run; runs/demo-<time> by default')
    .option('--seed <number>', 'The same seed gives the same run', parseSeed, 0)
    .option('--short', 'Train for a few steps only, to check that everything works')
    .action(showDemo);
}

function parseSeed(text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

const titles: Readonly<Record<DemoStage, string>> = {
  reward: '1  Train a reward model on pairs of summaries, one of which people prefer',
  ppo: '2  Train the model with PPO to write summaries that the reward model scores higher',
  gold: '3  Score summaries of new posts with the gold scorer, which training never saw',
};

/** Runs the demo and prints its progress and result. */
async function showDemo({ output, seed, short }: DemoFlags): Promise<void> {
  await untilInterrupted(async (signal) => {
    let view = new ProgressView();
    const result = await runDemo({
      output: output ?? defaultOutput('demo'),
      seed,
      short,
      signal,
      onStage: (stage) => {
        view.clear();
        view = new ProgressView();
        process.stderr.write(`\n${bold(titles[stage], process.stderr)}\n`);
      },
      onEvent: (_, event) => view.handle(event),
    });
    const report = await writeDemoReport(result);
    process.stdout.write(`\n${formatDemo(result, { report, output: process.stdout })}\n`);
  });
}

/** Formats the result of the demo for people. */
export function formatDemo(
  result: DemoResult,
  { report, output }: { report: string; output: Output },
): string {
  const { gold, reward, first, last } = result;
  const percent = (fraction: number) => `${(100 * fraction).toFixed(0)} %`;
  const numbers = formatTable([
    ['', 'before', 'after'],
    ['gold score, 0 to 1', gold.before.toFixed(3), gold.after.toFixed(3)],
    ['reward-model score', first.reward.toFixed(3), last.reward.toFixed(3)],
    [`KL per token, at most ${KL_BOUND}`, klPerToken(first), klPerToken(last)],
    ['length in tokens', first.length.toFixed(1), last.length.toFixed(1)],
  ]);
  return [
    `${bold('Result', output)} after ${formatSeconds(result.seconds)}\n${numbers}`,
    [
      `The gold score ${gold.after < gold.before ? 'fell' : 'rose'}: the difference is ${gold.low.toFixed(3)} to ${gold.high.toFixed(3)} with 95 % confidence.`,
      `After PPO, ${percent(gold.winRate)} of the summaries are better than before (${percent(gold.winLow)} to ${percent(gold.winHigh)} with 95 % confidence).`,
      `The reward model predicts ${percent(reward.accuracy)} of ${reward.heldOut} held-out pairs correctly; guessing by length predicts ${percent(reward.lengthAccuracy)}.`,
    ].join('\n'),
    `${bold('Reward per step', output)}\n${plotRewards(result, output).join('\n')}`,
    ...result.samples.map(({ before, after }, i) => formatSample({ before, after, i }, output)),
    `${bold('Next', output)}\n${nextCommands(result, report)}`,
  ].join('\n\n');
}

function klPerToken({ kl, length }: DemoResult['first']): string {
  return (kl / length).toFixed(3);
}

function plotRewards({ folder }: DemoResult, output: Output): string[] {
  const metrics = readMetrics(join(folder, 'ppo', 'metrics.jsonl'));
  const rewards = metrics.map((line) => line['objective/scores'] as number);
  const width = Math.min(72, (output.columns || 80) - 2);
  return plotText(rewards, { width, height: 6 });
}

function formatSample(
  { before, after, i }: { before: GoldSample; after: GoldSample; i: number },
  output: Output,
): string {
  const post = before.post.slice(before.post.indexOf('POST: ') + 6).replace(/\nTL;DR:$/, '');
  return [
    `${bold(`Post ${i + 1}`, output)}  ${dim(stripControls(post), output)}`,
    `  before  ${before.score.toFixed(2)}  ${stripControls(before.summary)}`,
    `  after   ${after.score.toFixed(2)}  ${stripControls(after.summary)}`,
  ].join('\n');
}

function nextCommands({ folder }: DemoResult, report: string): string {
  return formatTable([
    [`open ${shellQuote(shortPath(report))}`, 'this result with charts'],
    [
      `proximal dashboard ${shellQuote(shortPath(folder))}`,
      'every step, sample and token in the browser',
    ],
    [
      'proximal train --prompts prompts.txt --reward reward.ts',
      'train Qwen3-0.6B on your prompts with your reward',
    ],
    ['proximal train --help', 'all settings'],
  ]);
}

export interface TextPlotOptions {
  /** In characters, including the axis labels. */
  readonly width: number;
  readonly height: number;
}

/** The dots of a braille character, by column from the top. */
const dots = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** Draws a curve with braille dots; its maximum and minimum are on the left.
 *  @example [0, 1], width 8, height 1  →  two dots, the second above the first */
export function plotText(values: readonly number[], { width, height }: TextPlotOptions): string[] {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const labels = [high, low].map((value) => value.toFixed(2));
  const indent = Math.max(...labels.map(({ length }) => length));
  const columns = Math.max(1, width - indent - 2);
  const cells = Array.from({ length: height }, () => new Uint8Array(columns));
  const span = high - low || 1;
  for (let x = 0; x < 2 * columns; x++) {
    const value = interpolate(values, x / Math.max(1, 2 * columns - 1));
    const y = Math.round(((high - value) / span) * (4 * height - 1));
    const row = cells[Math.floor(y / 4)]!;
    row[Math.floor(x / 2)]! |= dots[x % 2]![y % 4]!;
  }
  return cells.map((row, i) => {
    const label = i === 0 ? labels[0]! : i === height - 1 ? labels[1]! : '';
    const curve = Array.from(row, (bits) => String.fromCodePoint(0x2800 + bits)).join('');
    return `${label.padStart(indent)} │${curve}`;
  });
}

/** The value at a fraction of the range, interpolated between its two neighbours. */
function interpolate(values: readonly number[], fraction: number): number {
  const position = fraction * (values.length - 1);
  const before = Math.floor(position);
  const [a, b] = [values[before]!, values[Math.min(before + 1, values.length - 1)]!];
  return a + (b - a) * (position - before);
}
