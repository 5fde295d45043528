import type { BadRowReason, LineFault } from './line-fault.ts';

/** A row that could not be used. */
export interface BadRow {
  readonly reason: BadRowReason;
  /** Where it stands: `pairs.jsonl line 7`. */
  readonly origin: string;
  /** What is wrong, as an error says it. */
  readonly message: string;
}

/** What became of the rows that were read: read = kept + bad + repeated. */
export interface RowReport {
  readonly read: number;
  readonly kept: number;
  readonly bad: number;
  /** Rows to train on that were taken out because validation has their prompts. */
  readonly repeated: number;
  /** How many rows are bad for each reason. */
  readonly reasons: Readonly<Partial<Record<BadRowReason, number>>>;
  /** The first bad rows of each reason. */
  readonly examples: readonly BadRow[];
}

/** Bad rows of one reason that are told one by one. */
const maxExamples = 3;

/** Counts bad rows in little memory, however many there are. */
export class BadRowLog {
  count = 0;
  private readonly reasons = new Map<BadRowReason, number>();
  private readonly examples: BadRow[] = [];

  add({ reason, origin, message }: LineFault): void {
    const before = this.reasons.get(reason) ?? 0;
    this.count++;
    this.reasons.set(reason, before + 1);
    if (before < maxExamples) this.examples.push({ reason, origin, message });
  }

  report({ kept }: { readonly kept: number }): RowReport {
    return {
      read: kept + this.count,
      kept,
      bad: this.count,
      repeated: 0,
      reasons: Object.fromEntries(this.reasons),
      examples: [...this.examples],
    };
  }
}

/** One report of two sources. */
export function addReports(a: RowReport, b: RowReport): RowReport {
  const reasons = { ...a.reasons };
  for (const [reason, count] of Object.entries(b.reasons) as [BadRowReason, number][]) {
    reasons[reason] = (reasons[reason] ?? 0) + count;
  }
  return {
    read: a.read + b.read,
    kept: a.kept + b.kept,
    bad: a.bad + b.bad,
    repeated: a.repeated + b.repeated,
    reasons,
    examples: [...a.examples, ...b.examples],
  };
}

/** The reasons, most frequent first.
 *  @example { 'too-long': 1, 'equal-sides': 3 }  →  '3 equal-sides, 1 too-long' */
export function describeReasons({ reasons }: Pick<RowReport, 'reasons'>): string {
  return Object.entries(reasons)
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');
}
