import { visibleText } from './visible-text.ts';
import { diffWords } from './word-diff.ts';
import './text-block.css';

/** A text with what changed since an earlier one: what came is underlined, what went is struck out. */
export function DiffText({
  before,
  after,
  label,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll only what has the focus
    <div role="group" class="samples-text samples-diff" aria-label={label} tabIndex={0} dir="auto">
      {diffWords(before, after).map(({ kind, text }, i) => {
        const seen = visibleText(text);
        if (kind === 'same') return seen;
        return kind === 'added' ? <ins key={i}>{seen}</ins> : <del key={i}>{seen}</del>;
      })}
    </div>
  );
}
