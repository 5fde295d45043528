import { randomStream } from '../../../engine/random/index.ts';
import type { ComparedPolicies } from '../../../run/compare-policies.ts';
import type { Comparison, StoredResponse, StoredTask } from '../queue-schema.ts';

export interface CompareTasksOptions {
  readonly kind: 'pair' | 'rating';
  /** Folder of the run. */
  readonly run: string;
  readonly seed: number;
}

/** The origin of a compared response: whose it is, and the number of its prompt. */
export interface ComparedFrom {
  readonly side: 'policy' | 'other';
  readonly prompt: number;
}

/** The tasks of a blind comparison: a pair per prompt, or a rating per response. Sides and tasks are
 *  shuffled by the seed. Prompts with equal responses have no task, since they are ties. */
export function buildComparison(
  { step, against, pairs }: ComparedPolicies,
  { kind, run, seed }: CompareTasksOptions,
): { readonly tasks: StoredTask[]; readonly compare: Comparison } {
  const random = randomStream(seed, 'compared sides');
  const different = [...pairs.entries()].filter(([, { policy, other }]) => policy !== other);
  const groups = different.flatMap(([prompt, pair]) => {
    const responses = random.shuffle(
      (['policy', 'other'] as const).map((side): StoredResponse => {
        const from: ComparedFrom = { side, prompt };
        return { text: pair[side], from: { ...from } };
      }),
    );
    return kind === 'pair'
      ? [{ prompt: pair.prompt, responses }]
      : responses.map((response) => ({ prompt: pair.prompt, responses: [response] }));
  });
  const tasks = random.shuffle(groups).map((task, i) => ({ id: String(i + 1), ...task }));
  const equal = pairs.length - different.length;
  return { tasks, compare: { run, step, against, prompts: pairs.length, equal } };
}
