import { useEffect } from 'preact/hooks';

/** How long the second key of two may take, in milliseconds. */
const patience = 1500;

/** Listens to keys anywhere but where text is written. A name is one key, or two with a space between. */
export function useShortcuts(actions: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    let first = { key: '', at: Number.NEGATIVE_INFINITY };
    const handle = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (takesText(event.target) || document.querySelector('dialog[open]') !== null) return;
      const isSoon = event.timeStamp - first.at < patience;
      const action =
        (isSoon ? actions[`${first.key} ${event.key}`] : undefined) ?? actions[event.key];
      first = { key: event.key, at: event.timeStamp };
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', handle);
    return () => removeEventListener('keydown', handle);
  }, [actions]);
}

function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const isTextless = target instanceof HTMLInputElement && /checkbox|radio|range/.test(target.type);
  return !isTextless && target.matches('input, textarea, select, [contenteditable]');
}
