/** A stretch of words that stayed, came or went. */
export interface DiffPart {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Cells of the table beyond which texts count as wholly different: a person sees no more in them. */
const MAX_CELLS = 4_000_000;

/** How a text changed, word by word: the longest common subsequence of words (with the white space
 *  before them) stays; what went stands before what came.
 *  @example 'a b c' → 'a c d'  gives  same 'a', removed ' b', same ' c', added ' d' */
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

/** Words with the white space before them; white space at the end is a word of its own. */
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

/** Neighbours of one kind as one part, and between two that stay: first what went, then what came. */
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
