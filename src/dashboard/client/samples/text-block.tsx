import { visibleText } from './visible-text.ts';
import './text-block.css';

/** A whole text of a model or a user, as it is written; a long one scrolls. */
export function TextBlock({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll only what has the focus
    <div role="group" class="samples-text" aria-label={label} tabIndex={0} dir="auto">
      {text === '' ? <em>empty</em> : visibleText(text)}
    </div>
  );
}
