import { smooth } from '../../src/dashboard/client/charts/series.ts';
import type { GoldSample } from '../../src/demo/gold-evaluation.ts';
import type { DemoChange } from './measure-demo.ts';

/** Width of the card in CSS pixels. */
export const cardWidth = 1120;

/** A page with one card: a post, its summaries before and after PPO with their scores, and the curve
 *  of the reward. */
export function renderCard({ before, after, gold, rewards }: DemoChange): string {
  const { title, text } = readPost(before.post);
  const percent = (fraction: number) => `${(100 * fraction).toFixed(0)}%`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<style>${style}</style>
<main>
  <header><h1>The same post, summarised before and after PPO</h1></header>
  <section class="texts">
    <article class="post"><h2>${escapeText(title)}</h2><p>${escapeText(text)}</p></article>
    ${summary('Before', before)}
    ${summary(`After ${rewards.length} steps`, after)}
  </section>
  <section class="numbers">
    <h2>Reward per step, by the reward model</h2>
    ${plotCurve(rewards)}
    <dl>
      <div><dt>Gold score of ${gold.posts} new posts</dt>
        <dd>${gold.before.toFixed(2)} → <b>${gold.after.toFixed(2)}</b></dd>
        <dd class="interval">difference ${gold.low.toFixed(2)} to ${gold.high.toFixed(2)}</dd></div>
      <div><dt>Better than before</dt>
        <dd><b>${percent(gold.winRate)}</b> of summaries</dd>
        <dd class="interval">${percent(gold.winLow)} to ${percent(gold.winHigh)}</dd></div>
    </dl>
  </section>
  <footer>Scores are those of a gold scorer that training never sees, from 0 to 1, with 95% intervals.
    The post is a typical one: its scores are closest to the means.</footer>
</main>
</html>`;
}

function summary(title: string, { summary: text, score }: GoldSample): string {
  const name = title === 'Before' ? 'before' : 'after';
  return `<article class="summary ${name}">
      <h2>${title}<span class="score">score <b>${score.toFixed(2)}</b></span></h2>
      <p>${escapeText(text)}</p>
      <div class="bar"><span style="width: ${(100 * score).toFixed(1)}%"></span></div>
    </article>`;
}

/** The title and the text of a post.
 *  @example 'SUBREDDIT: r/a\nTITLE: Help\nPOST: My cat.\nTL;DR:'  →  'r/a: Help' and 'My cat.' */
export function readPost(post: string): { readonly title: string; readonly text: string } {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(post)?.[1] ?? '';
  return { title: `${field('SUBREDDIT')}: ${field('TITLE')}`, text: field('POST') };
}

const plot = { width: 430, height: 226, left: 40, bottom: 38, top: 8 } as const;

/** The curve as SVG: raw numbers faint, smoothed ones strong. */
function plotCurve(rewards: readonly number[]): string {
  const { width, height, left, bottom, top } = plot;
  const ticks = roundTicks(Math.min(...rewards), Math.max(...rewards));
  const [low, high] = [ticks[0]!, ticks.at(-1)!];
  const x = (step: number) => left + ((width - left - 6) * (step - 1)) / (rewards.length - 1);
  const y = (reward: number) =>
    top + (height - top - bottom) * (1 - (reward - low) / (high - low || 1));
  const path = (values: readonly (number | null)[]) =>
    values.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i + 1)} ${y(value ?? 0)}`).join('');
  const rows = ticks.map(
    (tick) => `<path class="grid" d="M${left} ${y(tick)}H${width}"/>
      <text x="${left - 6}" y="${y(tick) + 4}" text-anchor="end">${tick.toFixed(1).replace('-', '−')}</text>`,
  );
  const steps = [1, Math.round(rewards.length / 2), rewards.length].map(
    (step) =>
      `<text x="${x(step)}" y="${height - bottom + 18}" text-anchor="middle">${step}</text>`,
  );
  return `<svg viewBox="0 0 ${width + 8} ${height}">${rows.join('')}${steps.join('')}
      <text x="${(width + left) / 2}" y="${height - 4}" text-anchor="middle">step</text>
      <path class="raw" d="${path(rewards)}"/><path class="smooth" d="${path(smooth(rewards, 0.6))}"/>
    </svg>`;
}

/** Multiples of a half from below the smallest to above the largest number.
 *  @example −0.2 to 1.04  →  −0.5, 0, 0.5, 1, 1.5 */
export function roundTicks(min: number, max: number): number[] {
  const [first, last] = [Math.floor(2 * min), Math.ceil(2 * max)];
  return Array.from({ length: Math.max(2, last - first + 1) }, (_, i) => (first + i) / 2);
}

function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

const style = `
body { margin: 0; background: transparent; color: #161a20;
  font: 16px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; }
main { width: ${cardWidth}px; box-sizing: border-box; padding: 28px 32px 20px; background: #fff;
  border: 1px solid #d5dae1; border-radius: 14px;
  display: grid; grid-template-columns: minmax(0, 1fr) 438px; gap: 18px 36px; }
header, footer { grid-column: 1 / -1; }
h1, h2, p, dl, dd { margin: 0; }
h1 { font-size: 24px; }
h2 { font-size: 16px; }
.texts { display: grid; gap: 14px; align-content: start; }
.post { color: #535d6b; }
.post h2 { color: #161a20; margin-bottom: 2px; }
.summary { padding: 12px 16px 14px; border-radius: 10px; border-left: 5px solid; }
.summary h2 { display: flex; justify-content: space-between; }
.summary p { margin: 4px 0 10px; font-size: 17px; }
.before { background: #f8efe2; border-color: #b45309; }
.after { background: #e4f2e9; border-color: #1a7440; }
.score { font-weight: 400; color: #535d6b; }
.score b { color: #161a20; font-size: 19px; }
.bar { height: 6px; border-radius: 3px; background: #fff; overflow: hidden; }
.bar span { display: block; height: 100%; border-radius: 3px; }
.before .bar span { background: #b45309; }
.after .bar span { background: #1a7440; }
svg { display: block; width: 100%; margin-top: 6px; font-size: 12.5px; fill: #535d6b; }
path { fill: none; }
.grid { stroke: #e3e6ec; }
.raw { stroke: #1f5fbf; stroke-width: 1.5; opacity: 0.35; }
.smooth { stroke: #1f5fbf; stroke-width: 2.5; stroke-linejoin: round; }
dl { display: grid; grid-template-columns: 1fr 1fr; gap: 0 20px; margin-top: 10px; }
dt { font-size: 14px; color: #535d6b; }
dd { font-size: 20px; }
dd b { font-size: 25px; }
dd.interval, footer { font-size: 13.5px; color: #535d6b; }
`;
