import { computed, type ReadonlySignal } from '@preact/signals';

/** A list that is another one only where its entries say something else: who shows it need not be
 *  drawn again whenever something near it changes. */
export function keptList<T extends object>(
  compute: () => readonly T[],
): ReadonlySignal<readonly T[]> {
  let kept: readonly T[] = [];
  return computed(() => {
    const list = keepEntries(kept, compute());
    const isSame = list.length === kept.length && list.every((entry, i) => entry === kept[i]);
    if (!isSame) kept = list;
    return kept;
  });
}

/** The new entries, where equal ones of before stand for them.
 *  @example kept [a], list [{ ...a }, b]  →  [a, b] */
export function keepEntries<T extends object>(
  kept: readonly T[],
  list: readonly T[],
): readonly T[] {
  const before = new Map(kept.map((entry) => [JSON.stringify(entry), entry]));
  return list.map((entry) => before.get(JSON.stringify(entry)) ?? entry);
}
