import { randomStream } from '../../../engine/random/index.ts';
import type { StoredResponse, StoredTask } from '../queue-schema.ts';

/** A prompt with responses to it. */
export interface ResponseGroup {
  readonly prompt: string;
  readonly responses: readonly StoredResponse[];
}

export interface TaskOptions {
  /** Number of responses per task; all of a group if undefined. */
  readonly responses: number | undefined;
  readonly limit: number;
  readonly seed: number;
}

/** Random tasks from groups of responses, spread over the prompts. */
export function buildTasks(
  groups: readonly ResponseGroup[],
  { responses: size, limit, seed }: TaskOptions,
): StoredTask[] {
  const random = randomStream(seed, 'label queue');
  let open = random.shuffle(groups).map(({ prompt, responses }) => {
    const shuffled = random.shuffle(responses);
    const sets = combinations(shuffled.length, size ?? shuffled.length);
    return { prompt, shuffled, sets };
  });
  const tasks: StoredTask[] = [];
  while (open.length > 0) {
    open = open.filter(({ prompt, shuffled, sets }) => {
      if (tasks.length >= limit) return false;
      const { value: indices, done } = sets.next();
      if (done) return false;
      const responses = indices.map((i) => shuffled[i]!);
      tasks.push({ id: String(tasks.length + 1), prompt, responses });
      return true;
    });
  }
  return tasks;
}

/** Non-empty responses without duplicates. */
export function differentResponses(responses: readonly StoredResponse[]): StoredResponse[] {
  const texts = new Map<string, StoredResponse>();
  for (const response of responses) {
    if (response.text.trim() !== '' && !texts.has(response.text))
      texts.set(response.text, response);
  }
  return [...texts.values()];
}

/** Different sets of n out of k indices. Each index occurs about equally often, and the first sets are
 *  disjoint. For n = 2 all sets are returned, for larger n only some.
 *  @example k=4, n=2  →  [0, 1], [2, 3], [1, 2], [3, 0], [0, 2], [1, 3] */
export function* combinations(k: number, n: number): Generator<number[]> {
  if (n > k) return;
  const seen = new Set<string>();
  for (let stride = 1; stride <= Math.max(1, Math.floor(k / 2)); stride++) {
    for (let offset = 0; offset < n; offset++) {
      for (let first = offset; first < k; first += n) {
        const indices = Array.from({ length: n }, (_, i) => (first + i * stride) % k);
        const key = indices.toSorted((a, b) => a - b).join();
        if (new Set(indices).size < n || seen.has(key)) continue;
        seen.add(key);
        yield indices;
      }
    }
  }
}
