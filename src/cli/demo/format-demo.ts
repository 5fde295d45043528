import { join } from 'node:path';
import { readMetrics } from '../../demo/demo-report.ts';
import { type DemoResult, KL_BOUND } from '../../demo/demo-run.ts';
import type { GoldSample } from '../../demo/gold-evaluation.ts';
import { formatTable } from '../inspect/format-table.ts';
import { stripControls } from '../strip-controls.ts';
import { bold, dim, type Output } from '../terminal.ts';
import { plotText } from '../text-plot.ts';
import { shorten } from '../train/shorten.ts';
import { formatSeconds } from '../units.ts';

/** What came of the demo, for people. */
export function formatDemo(
  result: DemoResult,
  { report, output }: { report: string; output: Output },
): string {
  const { gold, reward, first, last } = result;
  const percent = (part: number) => `${(100 * part).toFixed(0)} %`;
  const numbers = formatTable([
    ['', 'before', 'after'],
    ['gold score, 0 to 1', gold.before.toFixed(3), gold.after.toFixed(3)],
    ['reward model’s score', first.reward.toFixed(3), last.reward.toFixed(3)],
    [`KL a token, at most ${KL_BOUND}`, klPerToken(first), klPerToken(last)],
    ['length in tokens', first.length.toFixed(1), last.length.toFixed(1)],
  ]);
  return [
    `${bold('Result', output)}, in ${formatSeconds(result.seconds)}\n${numbers}`,
    [
      `The gold score ${gold.after < gold.before ? 'fell' : 'rose'}: the difference is ${gold.low.toFixed(3)} to ${gold.high.toFixed(3)}, 95 % sure.`,
      `After PPO, ${percent(gold.winRate)} of the summaries are better than before (${percent(gold.winLow)} to ${percent(gold.winHigh)}, 95 % sure).`,
      `The reward model is right on ${percent(reward.accuracy)} of ${reward.heldOut} unseen pairs; a guess by length on ${percent(reward.lengthAccuracy)}.`,
    ].join('\n'),
    `${bold('Reward of the samples, step by step', output)}\n${plot(result, output).join('\n')}`,
    ...result.samples.map(({ before, after }, i) => formatSample({ before, after, i }, output)),
    `${bold('Next', output)}\n${nextCommands(result, report).join('\n')}`,
  ].join('\n\n');
}

function klPerToken({ kl, length }: DemoResult['first']): string {
  return (kl / length).toFixed(3);
}

function plot({ folder }: DemoResult, output: Output): string[] {
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

function nextCommands({ folder }: DemoResult, report: string): string[] {
  return [
    `  open ${shorten(report)}   the same with curves`,
    `  proximal dashboard ${shorten(folder)}   every step, sample and token in the browser`,
    '  proximal train --prompts prompts.txt --reward reward.ts   your prompts, your reward, Qwen3-0.6B',
    '  proximal train --help   everything that can be set',
  ];
}
