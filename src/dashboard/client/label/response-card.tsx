import type { ComponentChildren } from 'preact';
import { visibleText } from '../format.ts';

interface ResponseCardProps {
  readonly title: string;
  readonly text: string;
  readonly isChosen?: boolean;
  /** Beside the title. */
  readonly children?: ComponentChildren;
}

/** A response as it was written; its text is only ever text. */
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
