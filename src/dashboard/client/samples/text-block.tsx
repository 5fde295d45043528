import { visibleText } from '../format.ts';
import './text-block.css';

/** A whole text from a model or a user, unchanged; a long one scrolls. */
export function TextBlock({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard can scroll only what has the focus
    <div role="group" class="samples-text" aria-label={label} tabIndex={0} dir="auto">
      {text === '' ? <em>empty</em> : visibleText(text)}
    </div>
  );
}

/** A text with its changes from an earlier one: added words are underlined, removed ones struck out. */
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
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard can scroll only what has the focus
    <div role="group" class="samples-text samples-diff" aria-label={label} tabIndex={0} dir="auto">
      {diffWords(before, after).map(({ kind, text }, i) => {
        const shown = visibleText(text);
        if (kind === 'same') return shown;
        return kind === 'added' ? <ins key={i}>{shown}</ins> : <del key={i}>{shown}</del>;
      })}
    </div>
  );
}

/** Consecutive words that were kept, added or removed. */
export interface DiffPart {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Largest table of the comparison; longer texts count as entirely different. */
const MAX_CELLS = 4_000_000;

/** The changes of a text word by word. The longest common subsequence of words, each with the white
 *  space before it, is kept; removed words come before added ones.
 *  @example 'a b c' to 'a c d'  →  same 'a', removed ' b', same ' c', added ' d' */
export function diffWords(before: string, after: string): DiffPart[] {
  const [old, now] = [splitWords(before), splitWords(after)];
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start++;
  let tail = 0;
  const rest = Math.min(old.length, now.length) - start;
  while (tail < rest && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const a = old.slice(start, old.length - tail);
  const b = now.slice(start, now.length - tail);
  const parts: DiffPart[] = [
    ...now.slice(0, start).map(same),
    ...diffMiddle(a, b),
    ...now.slice(now.length - tail).map(same),
  ];
  return joinParts(parts);
}

function same(text: string): DiffPart {
  return { kind: 'same', text };
}

/** Words with the white space before them; trailing white space is a word of its own. */
function splitWords(text: string): string[] {
  return text.match(/\s*\S+|\s+$/g) ?? [];
}

function diffMiddle(a: readonly string[], b: readonly string[]): DiffPart[] {
  const removed = (text: string): DiffPart => ({ kind: 'removed', text });
  const added = (text: string): DiffPart => ({ kind: 'added', text });
  if (a.length * b.length > MAX_CELLS) return [...a.map(removed), ...b.map(added)];
  const lengths = commonLengths(a, b);
  const width = b.length + 1;
  const parts: DiffPart[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      parts.push(same(b[j]!));
      i++;
      j++;
    } else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) {
      parts.push(removed(a[i++]!));
    } else parts.push(added(b[j++]!));
  }
  return [...parts, ...a.slice(i).map(removed), ...b.slice(j).map(added)];
}

/** C[i, j]: length of the longest common subsequence of a from i and b from j. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array {
  const width = b.length + 1;
  const C = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const below = C[(i + 1) * width + j]!;
      const right = C[i * width + j + 1]!;
      C[i * width + j] = a[i] === b[j] ? C[(i + 1) * width + j + 1]! + 1 : Math.max(below, right);
    }
  }
  return C;
}

/** Joins neighbours of the same kind; between two kept parts, removed words come first, then added ones. */
function joinParts(parts: readonly DiffPart[]): DiffPart[] {
  const joined: DiffPart[] = [];
  let [removed, added, kept] = ['', '', ''];
  const flush = () => {
    if (removed !== '') joined.push({ kind: 'removed', text: removed });
    if (added !== '') joined.push({ kind: 'added', text: added });
    [removed, added] = ['', ''];
  };
  for (const { kind, text } of parts) {
    if (kind === 'same') {
      flush();
      kept += text;
      continue;
    }
    if (kept !== '') joined.push({ kind: 'same', text: kept });
    kept = '';
    if (kind === 'removed') removed += text;
    else added += text;
  }
  flush();
  if (kept !== '') joined.push({ kind: 'same', text: kept });
  return joined;
}
