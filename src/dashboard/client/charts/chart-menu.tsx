import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface ChartMenuProps {
  readonly title: string;
  readonly isLog: boolean;
  readonly onLog: (isLog: boolean) => void;
  readonly onPng: () => void;
  readonly onCsv: () => void;
}

/** What can be done with one chart. */
export function ChartMenu({ title, ...items }: ChartMenuProps) {
  const [isOpen, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current!.focus();
  };
  useLeaving(root, { isOpen, onLeave: () => setOpen(false), onEscape: close });
  return (
    <div ref={root} class="chart-menu">
      <button
        ref={button}
        type="button"
        class="quiet"
        aria-label={`Options of ${title}`}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span aria-hidden="true">⋯</span>
      </button>
      {isOpen && <MenuItems {...items} onDone={close} />}
    </div>
  );
}

type MenuItemsProps = Omit<ChartMenuProps, 'title'> & { readonly onDone: () => void };

function MenuItems({ isLog, onLog, onPng, onCsv, onDone }: MenuItemsProps) {
  const choose = (action: () => void) => () => {
    action();
    onDone();
  };
  return (
    <div class="chart-menu-items">
      <label>
        <input
          type="checkbox"
          checked={isLog}
          onChange={(event) => onLog(event.currentTarget.checked)}
        />
        Log scale
      </label>
      <button type="button" onClick={choose(onPng)}>
        Save as PNG
      </button>
      <button type="button" onClick={choose(onCsv)}>
        Save as CSV
      </button>
    </div>
  );
}

interface Leaving {
  readonly isOpen: boolean;
  readonly onLeave: () => void;
  readonly onEscape: () => void;
}

/** Tells when mouse or focus go elsewhere, or Escape is pressed, while something is open. */
function useLeaving(
  root: RefObject<HTMLElement | null>,
  { isOpen, onLeave, onEscape }: Leaving,
): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const end = new AbortController();
    const leave = ({ target }: Event) => {
      if (!root.current!.contains(target as Node)) onLeave();
    };
    document.addEventListener('pointerdown', leave, { signal: end.signal });
    document.addEventListener('focusin', leave, { signal: end.signal });
    document.addEventListener('keydown', ({ key }) => key === 'Escape' && onEscape(), {
      signal: end.signal,
    });
    return () => end.abort();
  }, [isOpen]);
}
