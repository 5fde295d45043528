import { readFileSync } from 'node:fs';
import { type DemoResult, KL_BOUND } from '../demo/demo-run.ts';
import type { GoldSample } from '../demo/gold-evaluation.ts';
import { locateRunFiles } from '../run/run-folder.ts';
import { formatSeconds, shellQuote, shortPath } from './format.ts';
import { plotText } from './plot-text.ts';
import { commandLine } from './program-command.ts';
import { formatTable } from './table.ts';
import { bold, dim, lineWidth, type Output, stripControls, wrapWords } from './terminal.ts';

/** Formats the result of the demo for people. */
export function formatDemo(result: DemoResult, output: Output): string {
  const { gold, first, last } = result;
  const numbers = formatTable(
    [
      ['', 'before', 'after'],
      ['gold score, 0 to 1', gold.before.toFixed(3), gold.after.toFixed(3)],
      ['reward-model score', first.reward.toFixed(3), last.reward.toFixed(3)],
      [`KL per token, at most ${KL_BOUND}`, klPerToken(first), klPerToken(last)],
      ['length in tokens', first.length.toFixed(1), last.length.toFixed(1)],
    ],
    'lrr',
  );
  return [
    `${bold('Result', output)} after ${formatSeconds(result.seconds)}\n${numbers}`,
    describeResult(result)
      .map((sentence) => wrapWords(sentence, { width: widthOf(output) }))
      .join('\n'),
    `${bold('Reward per step', output)}\n${plotRewards(result, output).join('\n')}`,
    `${bold(`The first three of ${gold.posts} new posts`, output)}, with gold scores`,
    ...result.samples.map((sample, i) => formatSample({ ...sample, i }, output)),
    `${bold('Next', output)}\n${nextCommands(result)}`,
  ].join('\n\n');
}

function describeResult({ gold, reward }: DemoResult): string[] {
  const percent = (fraction: number) => `${(100 * fraction).toFixed(0)} %`;
  return [
    `The gold score ${gold.after < gold.before ? 'fell' : 'rose'}: the difference on ${gold.posts} posts is ${gold.low.toFixed(3)} to ${gold.high.toFixed(3)} with 95 % confidence.`,
    `After PPO, ${percent(gold.winRate)} of the summaries are better than before (${percent(gold.winLow)} to ${percent(gold.winHigh)} with 95 % confidence).`,
    `The reward model predicts ${percent(reward.accuracy)} of ${reward.heldOut} held-out pairs correctly; guessing by length predicts ${percent(reward.lengthAccuracy)}.`,
  ];
}

/** Longer lines are hard to read. */
const MAX_WIDTH = 100;

function widthOf(output: Output): number {
  return Math.min(lineWidth(output), MAX_WIDTH);
}

function klPerToken({ kl, length }: DemoResult['first']): string {
  return (kl / length).toFixed(3);
}

function plotRewards({ run }: DemoResult, output: Output): string[] {
  const lines = readFileSync(locateRunFiles(run).metrics, 'utf8').trimEnd().split('\n');
  const rewards = lines.map((line): number => JSON.parse(line)['objective/scores']);
  return plotText(rewards, { width: Math.min(72, widthOf(output) - 2), height: 6 });
}

function formatSample(
  { before, after, i }: { before: GoldSample; after: GoldSample; i: number },
  output: Output,
): string {
  const width = widthOf(output);
  const post = before.post.slice(before.post.indexOf('POST: ') + 6).replace(/\nTL;DR:$/, '');
  const wrap = (label: string, text: string) =>
    wrapWords(`${label}${stripControls(text)}`, { width, indent: label.length });
  return [
    dim(wrap(`${i + 1}  post          `, post), output),
    wrap(`   before  ${before.score.toFixed(2)}  `, before.summary),
    wrap(`   after   ${after.score.toFixed(2)}  `, after.summary),
  ].join('\n');
}

/** Commands that work as printed. */
function nextCommands({ folder, run }: DemoResult): string {
  const quote = (path: string) => shellQuote(shortPath(path));
  return [
    ['Every step, sample and token in the browser:', `dashboard ${quote(folder)}`],
    ['The PPO run as one HTML file:', `report ${quote(run)}`],
    ['All settings for your own prompts and rewards:', 'train --help'],
  ]
    .map(([purpose, args]) => `  ${purpose}\n    ${commandLine(args!)}`)
    .join('\n');
}
