/** The name that was probably meant, if any is alike: letters' case, `-` and `_` do not count.
 *  @example 'hidden_sise' of ['hiddenSize', 'headDim']  →  'hiddenSize' */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const distances = names.map((other) => editDistance(plain(name), plain(other)));
  const least = Math.min(...distances);
  const nearest = names[distances.indexOf(least)];
  return nearest !== undefined && least <= 0.4 * Math.max(name.length, nearest.length)
    ? nearest
    : undefined;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_]/g, '');
}

/** Levenshtein's distance: how many letters must be put in, left out or replaced.
 *  @example 'sitting' and 'kitten'  →  3 */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1));
    }
    above = row;
  }
  return above[b.length]!;
}
