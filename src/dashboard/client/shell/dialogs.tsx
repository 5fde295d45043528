import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import './dialog.css';
import './keyboard-help.css';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: preact.ComponentChildren;
}

/** A window above the page; Escape closes it, and the focus goes back to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement;
    element.current!.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

const keys: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  [
    'Everywhere',
    [
      ['?', 'this help'],
      ['g o', 'go to Overview'],
      ['g s', 'go to Samples'],
      ['g l', 'go to Label'],
      ['Tab', 'next control'],
    ],
  ],
  [
    'Runs',
    [
      ['↑ ↓', 'from run to run'],
      ['Enter', 'choose the run'],
      ['Space', 'tick one to draw it beside the chosen one'],
    ],
  ],
  [
    'Charts',
    [
      ['← →', 'move the cursor; with Shift far'],
      ['+ −', 'zoom in and out at the cursor'],
      ['Esc', 'show all steps'],
    ],
  ],
  [
    'Samples',
    [
      ['↑ ↓', 'from sample to sample'],
      ['Home End', 'to the first and the last'],
      ['Enter', 'open the sample'],
      ['Esc', 'close it'],
    ],
  ],
  [
    'Tokens',
    [
      ['← →', 'from token to token'],
      ['Home End', 'to the first and the last'],
      ['p n', 'previous and next sample'],
    ],
  ],
];

/** Every key of the page. */
export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <div class="keyboard-help">
        {keys.map(([title, entries]) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <dl>
              {entries.map(([key, action]) => (
                <div key={key}>
                  <dt>
                    {key.split(' ').map((part) => (
                      <kbd key={part}>{part}</kbd>
                    ))}
                  </dt>
                  <dd>{action}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
        <p>Labels show their keys beside what they do.</p>
      </div>
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
