import type { EvaluationReport, Performance } from '../../loop/evaluation-report.ts';
import { formatTable } from '../inspect/format-table.ts';
import { bold, dim, type Output } from '../terminal.ts';
import { showNumber } from './step-line.ts';

const shownSamples = 2;
/** What a line of a sample holds before its text. */
const SAMPLE_INDENT = 24;

/** Performances side by side, under their names. */
export function formatPerformances(columns: Readonly<Record<string, Performance>>): string {
  const names = Object.keys(columns);
  const cells = Object.values(columns).map(describe);
  const rows = Object.keys(cells[0]!).map((row) => [row, ...cells.map((cell) => cell[row]!)]);
  return formatTable([['', ...names], ...rows], `l${'r'.repeat(names.length)}`);
}

function describe(performance: Performance): Record<string, string> {
  const { reward, rewardStd, greedyReward, bestOfN, winRate, kl, entropy } = performance;
  return {
    reward: `${showNumber(reward)} ± ${showNumber(rewardStd)}`,
    'reward, greedy': showNumber(greedyReward),
    'reward, best of n': showNumber(bestOfN),
    'win rate over reference': `${(100 * winRate).toFixed(1)} %`,
    'KL from reference': showNumber(kl),
    entropy: showNumber(entropy),
    'length in tokens': showNumber(performance.length),
    'repeated 3-grams': `${(100 * performance.repetition).toFixed(1)} %`,
  };
}

/** Greedy responses of reference and policy, one under the other. */
export function formatSamples(samples: EvaluationReport['samples'], output: Output): string[] {
  const width = Math.max(20, (output.columns || 100) - SAMPLE_INDENT);
  return samples.slice(0, shownSamples).map((sample, i) => {
    const { prompt, refResponse, refScore, response, score } = sample;
    const rows = [
      ['prompt', '', oneLine(prompt, width)],
      ['reference', showNumber(refScore), oneLine(refResponse, width)],
      ['policy', showNumber(score), oneLine(response, width)],
    ];
    const note = dim('(greedy, with scores)', output);
    return `${bold(`Sample ${i + 1}`, output)} ${note}\n${formatTable(rows, 'lrl')}`;
  });
}

function oneLine(text: string, width: number): string {
  const line = text.replace(/\s+/g, ' ').trim() || '(empty)';
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}
