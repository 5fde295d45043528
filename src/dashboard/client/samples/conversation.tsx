import './conversation.css';
import type { TurnRecord } from '../../api.ts';
import { formatFixed, formatNumber, visibleText } from '../format.ts';
import { TextBlock } from './text-block.tsx';

type Call = TurnRecord['calls'][number];

/** A conversation with an environment: the policy's turns with their tool calls, results and answers. */
export function Conversation({ turns }: { readonly turns: readonly TurnRecord[] }) {
  return (
    <ol class="conversation" aria-label="Turns of the conversation">
      {turns.map(({ text, reward, calls, answers }, turn) => (
        <li key={turn} class="conversation-turn">
          <p class="conversation-head">
            <strong>Policy, turn {turn + 1}</strong>
            {reward !== undefined && <span>reward {formatFixed(reward, 4)}</span>}
          </p>
          <TextBlock label={`Policy, turn ${turn + 1}`} text={text} />
          {calls.map((call, i) => (
            <ToolCall key={i} call={call} label={`Turn ${turn + 1}, call ${i + 1}`} />
          ))}
          {answers.map((answer, i) => (
            <div key={i} class="conversation-answer">
              <p class="conversation-head">
                <strong>{visibleText(answer.role)}</strong>
              </p>
              <TextBlock label={`Answer to turn ${turn + 1}`} text={answer.text} />
            </div>
          ))}
        </li>
      ))}
    </ol>
  );
}

/** A tool call: its arguments, its result or error, and how long it took. */
function ToolCall({ call, label }: { readonly call: Call; readonly label: string }) {
  const { tool, input, output, error, seconds } = call;
  return (
    <section
      class={`conversation-call${error === undefined ? '' : ' is-error'}`}
      aria-label={`${label}: ${tool ?? 'no tool'}`}
    >
      <p class="conversation-head">
        <code>{describeCall(tool, input)}</code>
        {error !== undefined && <span class="conversation-error">{describeError(error)}</span>}
        <span>{formatNumber(seconds)} s</span>
      </p>
      <TextBlock label={`${label}: result`} text={output} />
    </section>
  );
}

/** A call as code.
 *  @example add, { a: 1 }  →  'add({"a":1})';  without a tool  →  'not a call' */
function describeCall(tool: string | undefined, input: unknown): string {
  if (tool === undefined) return 'not a call';
  return visibleText(`${tool}(${input === undefined ? '' : JSON.stringify(input)})`);
}

/** @example 'invalid_json'  →  'invalid json' */
export function describeError(kind: string): string {
  return visibleText(kind.replaceAll('_', ' '));
}
