import { signal } from '@preact/signals';
import type { RewardSample, RewardScore, RewardSource } from '../web/index.ts';

/** Which of two responses is better; 0 if neither is. */
export type PairChoice = 'first' | 'second' | 'neither';

/** Two responses to the same prompt that a person compares. */
export interface PairQuestion {
  readonly prompt: string;
  readonly first: string;
  readonly second: string;
  /** Position among the questions of the step, from 1. */
  readonly number: number;
  readonly total: number;
}

const scores: Readonly<Record<PairChoice, readonly [number, number]>> = {
  first: [1, -1],
  second: [-1, 1],
  neither: [0, 0],
};

/** Rewards by a person who compares the two responses to each prompt: 1 for the better one, −1 for the
 *  other. */
export class PairSource implements RewardSource {
  readonly name = 'thumbs';
  /** People may take their time. */
  readonly timeout = Infinity;
  /** The question that waits for an answer. */
  readonly question = signal<PairQuestion | undefined>(undefined);
  private answerQuestion: ((choice: PairChoice) => void) | undefined;

  /** Answers the current question. */
  answer(choice: PairChoice): void {
    this.answerQuestion?.(choice);
  }

  async score(
    samples: readonly RewardSample[],
    { signal: stop }: { readonly signal: AbortSignal },
  ): Promise<readonly RewardScore[]> {
    const pairs = pairSamples(samples);
    const different = pairs.filter(([a, b]) => samples[a]!.response !== samples[b]!.response);
    const result = new Array<number>(samples.length).fill(0);
    for (const [i, [a, b]] of different.entries()) {
      const { prompt, response: first } = samples[a]!;
      const { response: second } = samples[b]!;
      const place = { number: i + 1, total: different.length };
      const choice = await this.ask({ prompt, first, second, ...place }, stop);
      [result[a], result[b]] = scores[choice] as [number, number];
    }
    return result;
  }

  /** Drops the current question, such as when the run is started over. */
  cancel(): void {
    this.question.value = undefined;
    this.answerQuestion = undefined;
  }

  private async ask(question: PairQuestion, stop: AbortSignal): Promise<PairChoice> {
    this.question.value = question;
    try {
      return await new Promise<PairChoice>((resolve, reject) => {
        this.answerQuestion = resolve;
        stop.addEventListener('abort', () => reject(stop.reason as Error), { once: true });
      });
    } finally {
      this.cancel();
    }
  }
}

/** Indices of the first two responses to each prompt.
 *  @example prompts 4, 4, 7, 7  →  [0, 1], [2, 3] */
export function pairSamples(
  samples: readonly Pick<RewardSample, 'promptIdx'>[],
): (readonly [number, number])[] {
  const first = new Map<number, number>();
  const pairs: (readonly [number, number])[] = [];
  for (const [i, { promptIdx }] of samples.entries()) {
    const a = first.get(promptIdx);
    if (a === undefined) first.set(promptIdx, i);
    else if (!pairs.some((pair) => pair[0] === a)) pairs.push([a, i]);
  }
  return pairs;
}
