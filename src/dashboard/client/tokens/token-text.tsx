import type { TokenColumns } from '../../api.ts';
import { visibleText } from '../format.ts';

/** Part of a token: text, or a sign for white space. */
export interface TokenPiece {
  readonly kind: 'text' | 'mark';
  readonly text: string;
}

/** A token as it is shown. */
export interface TokenLook {
  readonly id: number;
  readonly text: string;
  /** Name of a token that adds no text, such as a special one. */
  readonly name?: string | undefined;
}

/** Shown for the token that ends a response. */
const STOP = '⏹';

/** Shown for a token that adds no text, such as the first bytes of a character. */
const NO_TEXT = '◌';

/** Shows a token: white space as grey signs, a stop token as ⏹. */
export function TokenContent({
  look,
  stopId,
}: {
  readonly look: TokenLook;
  readonly stopId: number | undefined;
}) {
  const { text } = look;
  if (text === '') {
    const sign = emptyTokenSign(look, stopId);
    return <span class={sign === STOP ? 'tokens-stop' : 'tokens-mark'}>{sign}</span>;
  }
  return (
    <>
      {tokenPieces(text).map((piece, i) =>
        piece.kind === 'text' ? (
          piece.text
        ) : (
          <span key={i} class="tokens-mark">
            <wbr />
            {piece.text}
          </span>
        ),
      )}
    </>
  );
}

/** What the signs in the tokens mean; only those that occur. */
export function TokenMarks({
  texts,
  hasStop,
}: {
  readonly texts: readonly string[];
  readonly hasStop: boolean;
}) {
  const marks = usedMarks(texts, hasStop);
  if (marks.length === 0) return null;
  return (
    <p class="tokens-marks tokens-muted">
      {marks.map(({ sign, meaning }) => (
        <span key={meaning}>
          <span class={sign === STOP ? 'tokens-stop' : 'tokens-mark'}>{sign}</span> {meaning}
        </span>
      ))}
    </p>
  );
}

/** The signs that occur in a response.
 *  @example [' a', '\n'], finished  →  space, line break, end of the response */
export function usedMarks(
  texts: readonly string[],
  hasStop: boolean,
): { readonly sign: string; readonly meaning: string }[] {
  const empty = texts.filter((text) => text === '').length - Number(hasStop);
  const signs = [
    { sign: '·', meaning: 'space', isUsed: texts.some((text) => /[^\S\r\n\t]/.test(text)) },
    { sign: '⇥', meaning: 'tab', isUsed: texts.some((text) => text.includes('\t')) },
    { sign: '↵', meaning: 'line break', isUsed: texts.some((text) => text.includes('\n')) },
    { sign: STOP, meaning: 'end of the response', isUsed: hasStop },
    { sign: NO_TEXT, meaning: 'no text of its own', isUsed: empty > 0 },
  ];
  return signs.filter(({ isUsed }) => isUsed).map(({ sign, meaning }) => ({ sign, meaning }));
}

/** Splits a token's text into pieces. Spaces, tabs and line breaks become signs; a line break still
 *  breaks the line.
 *  @example ' cat\n'  →  mark '·', text 'cat', mark '↵\n' */
export function tokenPieces(text: string): TokenPiece[] {
  return (text.match(/[^\S\r\n]+|\r?\n|[^\s]+|\s/g) ?? []).map((piece): TokenPiece => {
    if (/^\S/.test(piece)) return { kind: 'text', text: visibleText(piece) };
    if (piece.endsWith('\n')) return { kind: 'mark', text: `${piece === '\n' ? '' : '␍'}↵\n` };
    const sign = (character: string) => (character === '\t' ? '⇥' : '·');
    return { kind: 'mark', text: piece === '\r' ? '␍' : Array.from(piece, sign).join('') };
  });
}

/** The id of the stop token: the last id, if it has no text and the response finished. */
export function findStopId(
  { ids, texts }: Pick<TokenColumns, 'ids' | 'texts'>,
  finished: boolean,
): number | undefined {
  return finished && texts.at(-1) === '' ? ids.at(-1) : undefined;
}

/** Token t of a response. A token without text takes its name from the alternatives at its position;
 *  part of a character has no name.
 *  @example text '', among the alternatives as '<pad>'  →  name '<pad>' */
export function tokenLook({ ids, texts, alternatives }: TokenColumns, t: number): TokenLook {
  const [id, text] = [ids[t]!, texts[t] ?? ''];
  const position = alternatives[t]?.ids.indexOf(id) ?? -1;
  const name = alternatives[t]?.texts[position] ?? '';
  const hasName = text === '' && name !== '' && !name.includes('\ufffd');
  return hasName ? { id, text, name } : { id, text };
}

/** The sign of a token without text. */
function emptyTokenSign({ id, name }: TokenLook, stopId: number | undefined): string {
  if (id === stopId) return STOP;
  return name === undefined ? NO_TEXT : visibleText(name);
}

/** A token on one line, for labels.
 *  @example ' a\n'  →  '·a↵';  the stop token  →  '⏹' */
export function tokenLabel(look: TokenLook, stopId: number | undefined): string {
  const { text } = look;
  if (text === '') return emptyTokenSign(look, stopId);
  return tokenPieces(text)
    .map((piece) => piece.text)
    .join('')
    .replaceAll('\n', '');
}

/** The last characters of a text; never half a character.
 *  @example 'abcdef', 3  →  '…def' */
export function lastCharacters(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `…${text.slice(-limit).replace(/^[\udc00-\udfff]/, '')}`;
}
