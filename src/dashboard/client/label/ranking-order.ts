/** An order of preference while it is made: places of `count` responses, the best first. */
export interface RankingOrder {
  readonly count: number;
  readonly places: readonly number[];
}

export function noOrder(count: number): RankingOrder {
  return { count, places: [] };
}

export function isComplete({ count, places }: RankingOrder): boolean {
  return places.length === count;
}

/** Adds the next best response. The last one of all follows by itself.
 *  @example [2] + 0 of 3  →  [2, 0, 1] */
export function addPlace(order: RankingOrder, place: number): RankingOrder {
  const { count, places } = order;
  if (place < 0 || place >= count || places.includes(place)) return order;
  const longer = [...places, place];
  const all = Array.from({ length: count }, (_, other) => other);
  const left = all.filter((other) => !longer.includes(other));
  return { count, places: left.length === 1 ? [...longer, ...left] : longer };
}

/** Takes the last choice back, and with it the response that followed by itself.
 *  @example [2, 0, 1] of 3  →  [2] */
export function takeBack(order: RankingOrder): RankingOrder {
  const { count, places } = order;
  const kept = isComplete(order) ? Math.max(0, count - 2) : Math.max(0, places.length - 1);
  return { count, places: places.slice(0, kept) };
}

/** Moves a response up (−1) or down (+1) in the order, as far as there is room.
 *  @example [2, 0, 1], 0, −1  →  [0, 2, 1] */
export function movePlace(
  order: RankingOrder,
  { place, by }: { readonly place: number; readonly by: -1 | 1 },
): RankingOrder {
  const { count, places } = order;
  const at = places.indexOf(place);
  const to = at + by;
  if (at < 0 || to < 0 || to >= places.length) return order;
  const moved = [...places];
  moved[at] = places[to]!;
  moved[to] = place;
  return { count, places: moved };
}
