import { useMemo } from 'preact/hooks';
import { formatNumber } from '../samples/format-number.ts';
import type { ArithmeticInput } from './arithmetic.ts';
import type { ArithmeticLine } from './arithmetic-line.ts';
import { explainToken } from './explain-token.ts';

/** How a token's numbers come about, written out. */
export function TokenArithmetic({
  input,
  t,
}: {
  readonly input: ArithmeticInput;
  readonly t: number;
}) {
  const { lines, after, notes } = useMemo(() => explainToken(input, t), [input, t]);
  const { gamma, lambda, klCoef } = input.columns;
  const { clip } = input.config;
  return (
    <>
      <p class="tokens-muted">
        t = {t}, γ = {formatNumber(gamma)}, λ = {formatNumber(lambda)}, β = {formatNumber(klCoef)}
        {clip !== undefined && `, ε = ${formatNumber(clip.low)}`}
        {clip !== undefined && clip.high !== clip.low && ` below and ${clip.high} above 1`}. Each
        number is computed again from the stored ones and compared with what the run wrote down.
      </p>
      <Lines lines={lines} />
      {after.length > 0 && (
        <>
          <h3>Step after the last token</h3>
          <p class="tokens-muted">The score stands on a step of its own, t = {t + 1}.</p>
          <Lines lines={after} />
        </>
      )}
      {notes.map((note) => (
        <p key={note} class="tokens-note">
          <Symbols text={note} />
        </p>
      ))}
    </>
  );
}

function Lines({ lines }: { readonly lines: readonly ArithmeticLine[] }) {
  return (
    <ol class="tokens-lines">
      {lines.map((line) => (
        <li key={line.name}>
          <span class="tokens-formula">
            <Symbols text={`${line.name} = ${line.formula}`} />
          </span>
          <span class="tokens-numbers">
            = {line.numbers} = <strong>{formatNumber(line.result)}</strong>
          </span>
          <Comparison line={line} />
          {line.remark !== undefined && (
            <span class="tokens-remark">
              <Symbols text={line.remark} />
            </span>
          )}
        </li>
      ))}
    </ol>
  );
}

function Comparison({ line: { stored, result, differs } }: { readonly line: ArithmeticLine }) {
  if (stored === undefined) return null;
  if (!differs) return <span class="tokens-agrees">✓ as stored</span>;
  return (
    <span class="tokens-differs">
      ⚠ stored is {formatNumber(stored)}, off by {formatNumber(stored - result)}
    </span>
  );
}

/** A text whose `_t` and `_{t+1}` are subscripts. */
function Symbols({ text }: { readonly text: string }) {
  const parts = text.split(/_(\{[^}]*\}|ref|t)/);
  return (
    <>
      {parts.map((part, i) =>
        i % 2 === 0 ? part : <sub key={i}>{part.replace(/[{}]/g, '')}</sub>,
      )}
    </>
  );
}
