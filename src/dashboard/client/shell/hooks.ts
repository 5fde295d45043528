import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

/** The state of a request. */
export interface Loaded<T> {
  /** The latest answer; that of an earlier key stays until the next one is loaded. */
  readonly value: T | undefined;
  /** Why the latest request failed. */
  readonly error: string | undefined;
  readonly busy: boolean;
}

/** Loads a value again whenever the key changes; answers to earlier keys are dropped. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ value: undefined, error: undefined, busy: true });
  useEffect(() => {
    let isCurrent = true;
    setState(({ value }) => ({ value, error: undefined, busy: true }));
    load().then(
      (value) => isCurrent && setState({ value, error: undefined, busy: false }),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        if (isCurrent) setState({ value: undefined, error: message, busy: false });
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return state;
}

/** Whether a media query matches; follows changes. */
export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = () => setMatches(list.matches);
    update();
    list.addEventListener('change', update);
    return () => list.removeEventListener('change', update);
  }, [query]);
  return matches;
}

type Shortcuts = Readonly<Record<string, () => void>>;

/** Longest time between the two keys of a shortcut, in milliseconds. */
const KEY_PAIR_TIMEOUT = 1500;

/** Handles keyboard shortcuts, except in text fields. A shortcut is one key, or two separated by a
 *  space. */
export function useShortcuts(actions: Shortcuts): void {
  useEffect(() => {
    let first = { key: '', at: Number.NEGATIVE_INFINITY };
    const handle = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (acceptsText(event.target) || document.querySelector('dialog[open]') !== null) return;
      const isPair = event.timeStamp - first.at < KEY_PAIR_TIMEOUT;
      const action =
        (isPair ? actions[`${first.key} ${event.key}`] : undefined) ?? actions[event.key];
      first = { key: event.key, at: event.timeStamp };
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', handle);
    return () => removeEventListener('keydown', handle);
  }, [actions]);
}

/** Shortcuts whose actions may change with every render. */
export function useLatestShortcuts(actions: Shortcuts): void {
  const latest = useRef(actions);
  latest.current = actions;
  const keys = Object.keys(actions);
  const stable = useMemo(
    () => Object.fromEntries(keys.map((key) => [key, () => latest.current[key]?.()])),
    [keys.join(' ')],
  );
  useShortcuts(stable);
}

function acceptsText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isTextless = target instanceof HTMLInputElement && /checkbox|radio|range/.test(target.type);
  return !isTextless && target.matches('input, textarea, select, [contenteditable]');
}
