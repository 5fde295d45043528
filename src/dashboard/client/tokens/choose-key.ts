/** The token that a key leads to from another; undefined for keys that lead nowhere.
 *  @example 'ArrowRight' from 4 of 5  →  4;  'Home'  →  0 */
export function tokenOfKey(
  key: string,
  { chosen, count }: { readonly chosen: number; readonly count: number },
): number | undefined {
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: chosen - 1,
    ArrowRight: chosen + 1,
    Home: 0,
    End: count - 1,
  };
  const target = targets[key];
  return target === undefined ? undefined : Math.min(Math.max(0, target), count - 1);
}
