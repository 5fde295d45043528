import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import './dialog.css';
import './keyboard-help.css';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: preact.ComponentChildren;
}

/** A modal dialog; Escape closes it and returns the focus to where it was. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const previous = document.activeElement;
    element.current!.showModal();
    return () => {
      if (previous instanceof HTMLElement) previous.focus();
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
      ['g r', 'go to Runs'],
      ['g s', 'go to Samples'],
      ['g l', 'go to Label'],
      ['Tab', 'next control'],
    ],
  ],
  [
    'Runs',
    [
      ['↑ ↓', 'previous and next run'],
      ['Enter', 'select the run'],
      ['Space', 'draw a run with the selected one'],
    ],
  ],
  [
    'Charts',
    [
      ['← →', 'move the cursor; faster with Shift'],
      ['+ −', 'zoom in and out at the cursor'],
      ['Esc', 'show all steps'],
    ],
  ],
  [
    'Samples',
    [
      ['↑ ↓', 'previous and next sample'],
      ['Home End', 'first and last'],
      ['Enter', 'open the sample'],
      ['Esc', 'close it'],
    ],
  ],
  [
    'Tokens',
    [
      ['← →', 'previous and next token'],
      ['Home End', 'first and last'],
      ['p n', 'previous and next sample'],
    ],
  ],
];

/** The list of keyboard shortcuts. */
export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
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
        <p>Buttons on the Label page show their keys.</p>
      </div>
      <div class="dialog-buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
