import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../fs/index.ts';
import type { DemoResult } from './demo-run.ts';
import type { GoldSample } from './gold-evaluation.ts';
import { escapeHtml, lineChart } from './line-chart.ts';

/** The charts of a report: a metric, and what people call it. */
const charts = [
  ['objective/scores', 'Reward model’s score of the samples'],
  ['objective/kl', 'KL from the reference, nats a response'],
  ['policy/entropy_avg', 'Entropy, nats a token'],
  ['completions/mean_length', 'Length, tokens'],
] as const;

/** Writes a page that needs nothing else: numbers, curves, texts side by side. Gives its path. */
export async function writeDemoReport(result: DemoResult): Promise<string> {
  const metrics = readMetrics(join(result.folder, 'ppo', 'metrics.jsonl'));
  const figures = charts.map(([name, title]) => {
    const points = metrics.flatMap(({ step, ...values }) => {
      const value = (values as Record<string, number | null>)[name];
      return typeof value === 'number' ? [[step, value] as const] : [];
    });
    return `<figure>${lineChart({ title, lines: [{ name, points }] })}</figure>`;
  });
  const samples = result.samples.map(
    ({ before, after }) =>
      `<section><pre>${escapeHtml(before.post)}</pre><div class="pair">${describe('before PPO', before)}${describe('after PPO', after)}</div></section>`,
  );
  const path = join(result.folder, 'report.html');
  await writeAtomically(
    path,
    page([table(result), `<div class="charts">${figures.join('')}</div>`, ...samples]),
  );
  return path;
}

/** The metrics of each step, from the run's log. */
export function readMetrics(file: string): ({ step: number } & Record<string, number | null>)[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function table({ gold, reward, first, last }: DemoResult): string {
  const show = (value: number) => value.toFixed(3);
  const rows = [
    ['Gold score of held-out posts', show(gold.before), show(gold.after)],
    ['Reward model’s score', show(first.reward), show(last.reward)],
    ['Length in tokens', first.length.toFixed(1), last.length.toFixed(1)],
    ['KL from the reference', show(first.kl), show(last.kl)],
  ];
  const body = rows
    .map(
      ([name, ...cells]) =>
        `<tr><th>${name}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
    )
    .join('');
  return `<table><tr><td></td><th>before</th><th>after</th></tr>${body}</table>
<p>The difference in gold score is ${show(gold.low)} to ${show(gold.high)} with 95 % confidence; after PPO ${Math.round(100 * gold.winRate)} % of the summaries are the better ones (${Math.round(100 * gold.winLow)} to ${Math.round(100 * gold.winHigh)} %). The reward model is right on ${Math.round(100 * reward.accuracy)} % of ${reward.heldOut} held-out pairs, a guess by length on ${Math.round(100 * reward.lengthAccuracy)} %.</p>`;
}

function describe(label: string, { summary, score }: GoldSample): string {
  return `<div><h3>${label} <small>gold ${score.toFixed(2)}</small></h3><p>${escapeHtml(summary)}</p></div>`;
}

function page(parts: readonly string[]): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Proximal demo</title>
<style>
body { font: 16px/1.5 system-ui; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1f2937; background: #fff }
table { border-collapse: collapse } th, td { padding: .25rem 1rem .25rem 0; text-align: left } td { font-variant-numeric: tabular-nums }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(20rem, 1fr)); gap: 1rem } figure { margin: 0 }
section { border-top: 1px solid #d1d5db; padding: 1rem 0 } pre { white-space: pre-wrap; font: inherit; color: #6b7280 }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 2rem } h3 { margin: 0; font-size: 1rem } small { font-weight: 400; color: #6b7280 }
@media (prefers-color-scheme: dark) { body { color: #e5e7eb; background: #111827 } }
</style>
<h1>A language model learns to summarise</h1>
${parts.join('\n')}
</html>
`;
}
