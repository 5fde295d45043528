import { useMemo } from 'preact/hooks';
import { formatNumber } from '../format.ts';
import { type ArithmeticInput, type ArithmeticLine, formatResult } from './arithmetic.ts';
import { explainToken } from './explain-token.ts';
import './token-arithmetic.css';

/** How a token's numbers are computed, written out. */
export function TokenArithmetic({
  input,
  t,
}: {
  readonly input: ArithmeticInput;
  readonly t: number;
}) {
  const { lines, afterLast, notes } = useMemo(() => explainToken(input, t), [input, t]);
  const { gamma, lambda, klCoef } = input.columns;
  const { clipEpsilon: low, clipEpsilonHigh: high = low } = input.config;
  return (
    <>
      <p class="tokens-muted">
        t = {t}, γ = {formatNumber(gamma)}, λ = {formatNumber(lambda)}, β = {formatNumber(klCoef)},
        ε = {formatNumber(low)}
        {high !== low && ` below and ${formatNumber(high)} above 1`}. Each number is recomputed from
        the recorded ones and compared with what the run recorded.
      </p>
      <Lines lines={lines} />
      {afterLast.length > 0 && (
        <>
          <h3>Step after the last token</h3>
          <p class="tokens-muted">The score has a step of its own, t = {t + 1}.</p>
          <Lines lines={afterLast} />
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
            = {line.numbers} = <strong>{formatResult(line.result)}</strong>
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

function Comparison({ line: { recorded, result, differs } }: { readonly line: ArithmeticLine }) {
  if (recorded === undefined) return null;
  if (!differs) return <span class="tokens-agrees">✓ matches the run</span>;
  return (
    <span class="tokens-differs">
      ⚠ the run recorded {formatResult(recorded)}, a difference of {formatResult(recorded - result)}
    </span>
  );
}

/** Text with `_t`, `_ref` and `_{t+1}` as subscripts. */
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
