import type { TokenColumns } from '../../api.ts';
import { visibleText } from '../samples/visible-text.ts';

/** A stretch of a token: what is read, or the sign of white space. */
export interface TokenPiece {
  readonly kind: 'text' | 'mark';
  readonly text: string;
}

/** Stands for the token that ends a response. */
export const STOP = '⏹';

/** Stands for a token that adds no text, such as the first bytes of a character. */
const NO_TEXT = '◌';

/** A token's text in pieces: spaces, tabs and breaks have a sign; a break still breaks the line.
 *  @example ' cat\n'  →  mark '·', text 'cat', mark '↵\n' */
export function tokenPieces(text: string): TokenPiece[] {
  return (text.match(/[^\S\r\n]+|\r?\n|[^\s]+|\s/g) ?? []).map((piece): TokenPiece => {
    if (/^\S/.test(piece)) return { kind: 'text', text: visibleText(piece) };
    if (piece.endsWith('\n')) return { kind: 'mark', text: `${piece === '\n' ? '' : '␍'}↵\n` };
    const sign = (character: string) => (character === '\t' ? '⇥' : '·');
    return { kind: 'mark', text: piece === '\r' ? '␍' : Array.from(piece, sign).join('') };
  });
}

/** The id that ends a response: the last one, where it has no text and the response was not cut. */
export function stopIdOf(
  { ids, texts }: Pick<TokenColumns, 'ids' | 'texts'>,
  finished: boolean,
): number | undefined {
  return finished && texts.at(-1) === '' ? ids.at(-1) : undefined;
}

/** A token as it is to be drawn. */
export interface TokenLook {
  readonly id: number;
  readonly text: string;
  /** Of a token that adds no text, such as a special one. */
  readonly name?: string | undefined;
}

/** Token t of a response. One that adds no text is named as the alternatives at its place spell it;
 *  what they cannot spell, as a part of a character, has no name.
 *  @example text '', among the alternatives as '<pad>'  →  name '<pad>' */
export function lookOf({ ids, texts, alternatives }: TokenColumns, t: number): TokenLook {
  const [id, text] = [ids[t]!, texts[t] ?? ''];
  const place = alternatives[t]?.ids.indexOf(id) ?? -1;
  const spelled = alternatives[t]?.texts[place] ?? '';
  const isName = text === '' && spelled !== '' && !spelled.includes('\ufffd');
  return isName ? { id, text, name: spelled } : { id, text };
}

/** What a token without text shows. */
export function signOfEmpty({ id, name }: TokenLook, stopId: number | undefined): string {
  if (id === stopId) return STOP;
  return name === undefined ? NO_TEXT : visibleText(name);
}

/** A token in one line, for labels.
 *  @example ' a\n'  →  '·a↵';  the stop token  →  '⏹' */
export function tokenLabel(look: TokenLook, stopId: number | undefined): string {
  const { text } = look;
  if (text === '') return signOfEmpty(look, stopId);
  return tokenPieces(text)
    .map((piece) => piece.text)
    .join('')
    .replaceAll('\n', '');
}

/** The end of a text, whole characters.
 *  @example 'abcdef', 3  →  '…def' */
export function endOf(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `…${text.slice(-limit).replace(/^[\udc00-\udfff]/, '')}`;
}
