import type { EvaluationRow } from '../../api.ts';

/** Greedy responses of policy and reference to one prompt. */
export interface ComparedSample {
  readonly prompt: string;
  readonly response: string;
  readonly score: number | null;
  readonly refResponse: string;
  readonly refScore: number | null;
}

/** An evaluation that has responses to show. */
export interface ComparedStep {
  readonly step: number;
  readonly greedyReward: number | null;
  readonly winRate: number | null;
  readonly samples: readonly ComparedSample[];
}

/** Evaluations with responses, the newest first; lines of validations, which have none, are left out. */
export function comparedSteps(rows: readonly EvaluationRow[]): ComparedStep[] {
  const steps = rows.flatMap((row) => {
    const samples = Array.isArray(row.samples) ? row.samples.flatMap(readSample) : [];
    if (samples.length === 0) return [];
    const performance = isRecord(row.performance) ? row.performance : {};
    return {
      step: row.step,
      greedyReward: numberOrNull(performance.greedyReward),
      winRate: numberOrNull(performance.winRate),
      samples,
    };
  });
  return steps.sort((a, b) => b.step - a.step);
}

/** Which of the two scores higher; undefined where a score is missing. */
export function betterOf({
  score,
  refScore,
}: Pick<ComparedSample, 'score' | 'refScore'>): 'policy' | 'reference' | 'tie' | undefined {
  if (score === null || refScore === null) return undefined;
  if (score === refScore) return 'tie';
  return score > refScore ? 'policy' : 'reference';
}

function readSample(value: unknown): ComparedSample[] {
  if (!isRecord(value)) return [];
  const { prompt, response, refResponse } = value;
  if (typeof prompt !== 'string' || typeof response !== 'string') return [];
  if (typeof refResponse !== 'string') return [];
  const score = numberOrNull(value.score);
  return [{ prompt, response, score, refResponse, refScore: numberOrNull(value.refScore) }];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
