import { useMemo, useRef } from 'preact/hooks';
import { useShortcuts } from '../shell/shortcuts.ts';

/** Shortcuts that act on what is drawn now, however fast keys follow each other. */
export function useLatestShortcuts(actions: Readonly<Record<string, () => void>>): void {
  const latest = useRef(actions);
  latest.current = actions;
  const keys = Object.keys(actions);
  const stable = useMemo(
    () => Object.fromEntries(keys.map((key) => [key, () => latest.current[key]?.()])),
    [keys.join(' ')],
  );
  useShortcuts(stable);
}
