/** A ranking in progress: indices of some of `count` responses, the best first. */
export interface RankingOrder {
  readonly count: number;
  readonly responses: readonly number[];
}

export function noOrder(count: number): RankingOrder {
  return { count, responses: [] };
}

export function isComplete({ count, responses }: RankingOrder): boolean {
  return responses.length === count;
}

/** Adds the next best response. The last remaining one is added automatically.
 *  @example [2] + 0 of 3  →  [2, 0, 1] */
export function addResponse(order: RankingOrder, response: number): RankingOrder {
  const { count, responses } = order;
  if (response < 0 || response >= count || responses.includes(response)) return order;
  const longer = [...responses, response];
  const all = Array.from({ length: count }, (_, other) => other);
  const left = all.filter((other) => !longer.includes(other));
  return { count, responses: left.length === 1 ? [...longer, ...left] : longer };
}

/** Removes the last choice, together with a response that was added automatically.
 *  @example [2, 0, 1] of 3  →  [2] */
export function removeLast(order: RankingOrder): RankingOrder {
  const { count, responses } = order;
  const length = isComplete(order) ? count - 2 : responses.length - 1;
  return { count, responses: responses.slice(0, Math.max(0, length)) };
}

/** Moves a response up (−1) or down (+1) by one rank, if it can move.
 *  @example [2, 0, 1], 0, −1  →  [0, 2, 1] */
export function moveResponse(
  order: RankingOrder,
  { response, by }: { readonly response: number; readonly by: -1 | 1 },
): RankingOrder {
  const { count, responses } = order;
  const from = responses.indexOf(response);
  const to = from + by;
  if (from < 0 || to < 0 || to >= responses.length) return order;
  const moved = [...responses];
  moved[from] = responses[to]!;
  moved[to] = response;
  return { count, responses: moved };
}
