/** Colours there are for runs, and for the lines of one run; theme.css has them as --series-1 … 8. */
export const colourCount = 8;

/** The place of each drawn run's colour: who has one keeps it, who has none gets the first free one.
 *  With more runs than colours they begin again.
 *  @example a has 0, drawn b and c  →  b 0, c 1; a has 0, drawn b and a  →  a 0, b 1 */
export function assignColours(
  old: ReadonlyMap<string, number>,
  drawn: readonly string[],
): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const run of drawn) {
    const place = old.get(run);
    if (place !== undefined) places.set(run, place);
  }
  const taken = new Set(places.values());
  for (const run of drawn) {
    if (places.has(run)) continue;
    let place = 0;
    while (taken.has(place)) place++;
    taken.add(place);
    places.set(run, place);
  }
  return places;
}
