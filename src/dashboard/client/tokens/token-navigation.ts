import { useEffect, useState } from 'preact/hooks';
import type { DashboardSource, RunSummary, SampleRow } from '../../api.ts';
import { useLoaded } from '../shell/hooks.ts';

/** Which token is selected. */
export interface TokenSelection {
  readonly selected: number;
  /** The token under the pointer, else the selected one. */
  readonly shown: number;
  select(t: number): void;
  /** Handles a key that moves the selection; false for other keys. */
  pressKey(key: string): boolean;
  setHovered(t: number | undefined): void;
}

/** Keeps the selected token of a sample; another sample starts at its first token. */
export function useTokenSelection(index: number, count: number): TokenSelection {
  const [state, setState] = useState(0);
  const [hovered, setHovered] = useState<number>();
  useEffect(() => setState(0), [index]);
  const last = count - 1;
  const selected = Math.min(state, last);
  return {
    selected,
    shown: Math.min(hovered ?? selected, last),
    select: (t) => {
      setState(t);
      setHovered(undefined);
    },
    pressKey: (key) => {
      if (tokenForKey(key, { selected, count }) === undefined) return false;
      // Starts from the latest state, since keys can come faster than the page is drawn.
      setState((now) => tokenForKey(key, { selected: Math.min(now, last), count }) ?? now);
      setHovered(undefined);
      return true;
    },
    setHovered,
  };
}

/** The token that a key moves to; undefined for keys that do not move the selection.
 *  @example 'ArrowRight' from 4 of 5  →  4;  'Home'  →  0 */
export function tokenForKey(
  key: string,
  { selected, count }: { readonly selected: number; readonly count: number },
): number | undefined {
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: selected - 1,
    ArrowRight: selected + 1,
    Home: 0,
    End: count - 1,
  };
  const target = targets[key];
  return target === undefined ? undefined : Math.min(Math.max(0, target), count - 1);
}

/** A sample and its neighbours in the file. */
export interface Neighbours {
  /** Its own row; undefined if it was not found. */
  readonly row: SampleRow | undefined;
  /** Indices of the nearest samples with tokens on either side. */
  readonly previous: number | undefined;
  readonly next: number | undefined;
}

/** Number of rows to search on either side for a sample with tokens. */
const REACH = 50;

/** Loads the rows around a sample and finds its neighbours. */
export function useNeighbours(
  index: number,
  { source, run }: { readonly source: DashboardSource; readonly run: RunSummary },
): Neighbours {
  const { samples } = run.counts;
  // New samples matter only near the end of the list.
  const key = `${run.id} ${index} ${index + REACH >= samples ? samples : ''}`;
  const { value } = useLoaded(key, async () => {
    const offset = Math.max(0, index - REACH);
    const { rows } = await source.samples(run.id, { offset, limit: 2 * REACH });
    return rows;
  });
  return findNeighbours(index, value ?? []);
}

/** Finds a sample and its neighbours in rows that are in the order of the file.
 *  @example 3 with tokens, 4, 5, 6 with tokens: 5  →  previous 3, next 6 */
export function findNeighbours(index: number, rows: readonly SampleRow[]): Neighbours {
  const withTokens = rows.filter(({ hasTokens }) => hasTokens).map((row) => row.index);
  return {
    row: rows.find((row) => row.index === index),
    previous: withTokens.findLast((other) => other < index),
    next: withTokens.find((other) => other > index),
  };
}
