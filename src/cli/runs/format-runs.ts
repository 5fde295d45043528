import { formatTable } from '../inspect/format-table.ts';
import { bold, type Output } from '../terminal.ts';
import { showNumber } from '../train/step-line.ts';
import { formatSeconds } from '../units.ts';
import type { RunRow } from './run-row.ts';

const heads = ['name', 'kind', 'status', 'step', 'reward', 'loss', 'KL', 'started', 'time'];

/** Runs as a table for people. */
export function formatRuns(rows: readonly RunRow[], output: Output): string {
  const table = formatTable([heads, ...rows.map(cellsOf)], 'lllrrrrll');
  const [head, ...rest] = table.split('\n');
  return [bold(head!, output), ...rest].join('\n');
}

function cellsOf(row: RunRow): string[] {
  return [
    // A name with a line feed would be taken for two rows.
    row.name.replace(/\s+/g, ' '),
    row.kind,
    row.status,
    row.totalSteps === null ? String(row.step) : `${row.step}/${row.totalSteps}`,
    showNumber(row.reward ?? undefined),
    showNumber(row.loss ?? undefined),
    showNumber(row.kl ?? undefined),
    formatStart(row.startedAt),
    row.seconds === null ? '–' : formatSeconds(row.seconds),
  ];
}

/** A time by this machine's clock.
 *  @example '2026-01-31T22:59:07.000Z' in UTC+1  →  '2026-01-31 23:59' */
export function formatStart(iso: string): string {
  const date = new Date(iso);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
