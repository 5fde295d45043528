import { useEffect, useState } from 'preact/hooks';
import { tokenOfKey } from './choose-key.ts';

/** Which token is looked at. */
export interface TokenChoice {
  readonly chosen: number;
  /** The token under the pointer while there is one, else the chosen one. */
  readonly shown: number;
  choose(t: number): void;
  /** Takes a key that leads to another token; false for others. */
  press(key: string): boolean;
  setHovered(t: number | undefined): void;
}

/** Keeps the choice among the tokens of a sample; another sample starts at its first. */
export function useChoice(index: number, count: number): TokenChoice {
  const [choice, setChoice] = useState(0);
  const [hovered, setHovered] = useState<number>();
  useEffect(() => setChoice(0), [index]);
  const last = count - 1;
  const chosen = Math.min(choice, last);
  return {
    chosen,
    shown: Math.min(hovered ?? chosen, last),
    choose: (t) => {
      setChoice(t);
      setHovered(undefined);
    },
    press: (key) => {
      if (tokenOfKey(key, { chosen, count }) === undefined) return false;
      // From the latest choice, as keys may come faster than they are drawn.
      setChoice((now) => tokenOfKey(key, { chosen: Math.min(now, last), count }) ?? now);
      setHovered(undefined);
      return true;
    },
    setHovered,
  };
}
