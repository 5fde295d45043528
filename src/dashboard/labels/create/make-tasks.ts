import { randomStream } from '../../../engine/random/index.ts';
import type { StoredResponse, StoredTask } from '../queue-schema.ts';

/** A prompt with responses to it. */
export interface ResponseGroup {
  readonly prompt: string;
  readonly responses: readonly StoredResponse[];
}

export interface MakeTasksOptions {
  /** Responses of a task; all of a group if not given. */
  readonly responses: number | undefined;
  readonly limit: number;
  readonly seed: number;
}

/** Tasks from groups of responses: a random choice, spread over the prompts. */
export function makeTasks(
  groups: readonly ResponseGroup[],
  { responses: size, limit, seed }: MakeTasksOptions,
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
      const { value: places, done } = sets.next();
      if (done) return false;
      const responses = places.map((place) => shuffled[place]!);
      tasks.push({ id: String(tasks.length + 1), prompt, responses });
      return true;
    });
  }
  return tasks;
}

/** Responses with text, each text once. */
export function differentResponses(responses: readonly StoredResponse[]): StoredResponse[] {
  const texts = new Map<string, StoredResponse>();
  for (const response of responses) {
    if (response.text.trim() !== '' && !texts.has(response.text))
      texts.set(response.text, response);
  }
  return [...texts.values()];
}

/** Different sets of n of k places: each place comes about equally often, and the first sets share
 *  none. Of two all sets come, of more only some.
 *  @example k=4, n=2  →  [0, 1], [2, 3], [1, 2], [3, 0], [0, 2], [1, 3] */
export function* combinations(k: number, n: number): Generator<number[]> {
  if (n > k) return;
  const seen = new Set<string>();
  for (let stride = 1; stride <= Math.max(1, Math.floor(k / 2)); stride++) {
    for (let offset = 0; offset < n; offset++) {
      for (let first = offset; first < k; first += n) {
        const places = Array.from({ length: n }, (_, i) => (first + i * stride) % k);
        const key = places.toSorted((a, b) => a - b).join();
        if (new Set(places).size < n || seen.has(key)) continue;
        seen.add(key);
        yield places;
      }
    }
  }
}
