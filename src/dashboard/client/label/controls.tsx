import type { ComponentChildren } from 'preact';
import { visibleText } from '../format.ts';

interface KeyButtonProps {
  /** The shortcut. */
  readonly keys: string;
  readonly title: string;
  readonly isReady: boolean;
  readonly onPress: () => void;
  readonly isChosen?: boolean;
  readonly isPrimary?: boolean;
}

/** A button that shows its shortcut. It can keep the focus while it is disabled. */
export function KeyButton(props: KeyButtonProps) {
  const { keys, title, isReady, isChosen = false, isPrimary = false, onPress } = props;
  const names = ['label-key', isPrimary && 'label-primary', isChosen && 'label-chosen'];
  return (
    <button
      type="button"
      class={names.filter(Boolean).join(' ')}
      aria-disabled={!isReady}
      onClick={() => isReady && onPress()}
    >
      <kbd>{keys}</kbd>
      <span>{title}</span>
    </button>
  );
}

interface ProgressBarProps {
  readonly label: string;
  readonly value: number;
  readonly total: number;
}

/** A progress bar. */
export function ProgressBar({ label, value, total }: ProgressBarProps) {
  // Without a value, the element would show indeterminate progress.
  return <progress class="label-progress" aria-label={label} max={total || 1} value={value} />;
}

interface ResponseCardProps {
  readonly title: string;
  readonly text: string;
  readonly isChosen?: boolean;
  /** Next to the title. */
  readonly children?: ComponentChildren;
}

/** A response as plain text. */
export function ResponseCard({ title, text, isChosen = false, children }: ResponseCardProps) {
  return (
    <article class={isChosen ? 'label-card label-chosen' : 'label-card'} aria-label={title}>
      <header class="label-card-top">
        <h3>{title}</h3>
        {children}
      </header>
      <div class="label-text" dir="auto">
        {text === '' ? <em>(empty)</em> : visibleText(text)}
      </div>
    </article>
  );
}
