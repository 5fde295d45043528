import { describe, expect, it } from 'vitest';
import type { LabelChoice } from '../api.ts';
import { AnswerBook } from './answer-log.ts';
import { evaluateComparison } from './comparison-result.ts';
import type { ComparedFrom } from './create/compare-tasks.ts';
import type { StoredTask } from './queue-schema.ts';

type Side = ComparedFrom['side'];
type Vote = Side | 'tie' | 'both-bad';

const compare = { run: '/runs/a', step: 32, against: 'reference', prompts: 8, equal: 0 };

function makeTask(id: number, ...sides: readonly Side[]): StoredTask {
  const responses = sides.map((side) => ({ text: side, from: { side, prompt: id } }));
  return { id: String(id), prompt: `p${id}`, responses };
}

function makeBook(answers: readonly (readonly [task: string, labeller: string, LabelChoice])[]) {
  const book = new AnswerBook();
  for (const [task, labeller, answer] of answers) {
    const stored = answer as Exclude<LabelChoice, { readonly kind: 'ranking' }>;
    book.apply({ task, labeller, answer: stored, time: '', order: [0] });
  }
  return book;
}

/** A queue of pairs; every second task stores the other model's response first. */
function evaluatePairs(votes: readonly Readonly<Record<string, Vote>>[], change = {}) {
  const tasks = votes.map((_, i) =>
    i % 2 === 0 ? makeTask(i, 'policy', 'other') : makeTask(i, 'other', 'policy'),
  );
  const answers = votes.flatMap((given, i) =>
    Object.entries(given).map(([labeller, vote]) => {
      const place = tasks[i]!.responses.findIndex(({ text }) => text === vote);
      const choice = (place < 0 ? vote : place) as 0 | 1 | 'tie' | 'both-bad';
      return [String(i), labeller, { kind: 'pair', choice }] as const;
    }),
  );
  const queue = { queue: 'q', kind: 'pair', compare: { ...compare, ...change }, tasks } as const;
  return evaluateComparison({ ...queue, book: makeBook(answers) });
}

describe('evaluateComparison() of pairs', () => {
  it('gives the hand-worked win rate and interval; ties count ½', () => {
    const votes: Vote[] = ['policy', 'policy', 'policy', 'policy', 'policy', 'tie', 'other'];
    const result = evaluatePairs([...votes.map((vote) => ({ Ada: vote })), { Ada: 'both-bad' }]);
    expect(result).toMatchObject({
      ...{ queue: 'q', against: 'reference', kind: 'pair', prompts: 8, judged: 8, equal: 0 },
      ...{ answers: 8, labellers: 1, wins: 5, ties: 2, losses: 1, ratings: null },
      ...{ agreement: null, alpha: null },
      // (5 + 2/2)/8
      winRate: 0.75,
    });
    // z²/n = 0.4802: (0.75 + 0.2401 ∓ √(0.4802·0.1875 + 0.4802²/4)) / 1.4802 = (0.9901 ∓ 0.3843)/1.4802
    expect(result!.interval[0]).toBeCloseTo(0.4093, 3);
    expect(result!.interval[1]).toBeCloseTo(0.9285, 3);
  });

  it('decides a prompt by the majority of its labellers', () => {
    const result = evaluatePairs([
      { Ada: 'policy', Bob: 'policy' },
      { Ada: 'policy', Bob: 'other', Cid: 'policy' },
      { Ada: 'policy', Bob: 'other' },
      { Ada: 'tie', Bob: 'other' },
      {},
    ]);
    expect(result).toMatchObject({ wins: 2, ties: 1, losses: 1, judged: 4, winRate: 0.625 });
    expect(result).toMatchObject({ answers: 9, labellers: 3 });
    // Only the first prompt has one opinion.
    expect(result!.agreement).toBe(0.25);
  });

  it('corrects agreement for chance by sides, not by places', () => {
    const result = evaluatePairs([
      { Ada: 'policy', Bob: 'policy' },
      { Ada: 'policy', Bob: 'policy' },
      { Ada: 'policy', Bob: 'other' },
    ]);
    expect(result!.agreement).toBeCloseTo(2 / 3, 12);
    // n = 6 with 5 policy, 1 other: D_o = 2/6, D_e = 2·5·1/(6·5) = 1/3, α = 1 − 1.
    expect(result!.alpha).toBeCloseTo(0, 12);
  });

  it('counts prompts with equal responses as ties', () => {
    const result = evaluatePairs([{ Ada: 'policy' }, { Ada: 'policy' }], { prompts: 4, equal: 2 });
    expect(result).toMatchObject({ wins: 2, ties: 2, losses: 0, judged: 4, winRate: 0.75 });
  });

  it('is undefined without answers', () => {
    expect(evaluatePairs([{}, {}], { equal: 3 })).toBeUndefined();
  });
});

describe('evaluateComparison() of ratings', () => {
  const evaluate = (ratings: readonly (readonly [Side, number, Record<string, number>])[]) => {
    const tasks = ratings.map(([side, prompt], i) => ({
      ...{ id: String(i), prompt: `p${prompt}` },
      responses: [{ text: side, from: { side, prompt } }],
    }));
    const answers = ratings.flatMap(([, , given], i) =>
      Object.entries(given).map(
        ([labeller, rating]) => [String(i), labeller, { kind: 'rating', rating }] as const,
      ),
    );
    const queue = { queue: 'q', kind: 'rating', compare, tasks } as const;
    return evaluateComparison({ ...queue, book: makeBook(answers) });
  };

  it('gives the hand-worked means, intervals and win rate', () => {
    const result = evaluate([
      ['other', 0, { Ada: 2, Bob: 3 }],
      ['policy', 0, { Ada: 4, Bob: 5 }],
      ['policy', 1, { Ada: 3 }],
      ['other', 1, { Ada: 3 }],
      ['policy', 2, { Ada: 5 }],
      ['other', 2, {}],
    ]);
    // Prompt 2 has no rating of the other model. Policy 4.5 and 3, other 2.5 and 3.
    expect(result).toMatchObject({ wins: 1, ties: 1, losses: 0, judged: 2, winRate: 0.75 });
    expect(result!.ratings!.policy.mean).toBe(3.75);
    expect(result!.ratings!.other.mean).toBe(2.75);
    // Differences 2 and 0: mean 1, s = √2, 1.96·√2/√2 = 1.96.
    const { mean, interval } = result!.ratings!.difference;
    expect(mean).toBe(1);
    expect(interval![0]).toBeCloseTo(-0.96, 4);
    expect(interval![1]).toBeCloseTo(2.96, 4);
    // Ratings that differ by at most 1 agree.
    expect(result).toMatchObject({ agreement: 1, answers: 7, labellers: 2 });
  });

  it('has no interval for a single prompt', () => {
    const result = evaluate([
      ['policy', 0, { Ada: 4 }],
      ['other', 0, { Ada: 2 }],
    ]);
    expect(result!.ratings!.difference).toEqual({ mean: 2, interval: null });
  });

  it('is undefined until both responses to a prompt are rated', () => {
    expect(evaluate([['policy', 0, { Ada: 4 }]])).toBeUndefined();
  });
});
