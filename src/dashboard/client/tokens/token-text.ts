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

/** What a token without text shows. */
export function signOfEmpty(id: number, stopId: number | undefined): string {
  return id === stopId ? STOP : NO_TEXT;
}

/** A token in one line, for labels.
 *  @example ' a\n'  →  '·a↵';  the stop token  →  '⏹' */
export function tokenLabel(
  { id, text }: { readonly id: number; readonly text: string },
  stopId: number | undefined,
): string {
  if (text === '') return signOfEmpty(id, stopId);
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
