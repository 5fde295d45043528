import { STOP, signOfEmpty, tokenPieces } from './token-text.ts';

/** A token as it is drawn: white space as modest signs, a stop token as its own. */
export function TokenContent({
  id,
  text,
  stopId,
}: {
  readonly id: number;
  readonly text: string;
  readonly stopId: number | undefined;
}) {
  if (text === '') {
    const sign = signOfEmpty(id, stopId);
    return <span class={sign === STOP ? 'tokens-stop' : ''}>{sign}</span>;
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
