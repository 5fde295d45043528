import { STOP, signOfEmpty, type TokenLook, tokenPieces } from './token-text.ts';

/** A token as it is drawn: white space as modest signs, a stop token as its own. */
export function TokenContent({
  look,
  stopId,
}: {
  readonly look: TokenLook;
  readonly stopId: number | undefined;
}) {
  const { text } = look;
  if (text === '') {
    const sign = signOfEmpty(look, stopId);
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
