import type { ChatMessage } from '../base-setup/tokenizer/index.ts';
import type { Environment, EnvironmentAnswer, ToolCallRecord } from './environment.ts';
import { type ParsedToolCall, parseToolCalls } from './parse-tool-calls.ts';
import { Limiter, type Outcome, runWithin } from './run-limited.ts';
import { describeOutput } from './tool-output.ts';
import { type ReadyTool, readTools, type ToolSet } from './tool-set.ts';

/** Limits of a tool environment. */
export interface ToolsOptions {
  /** Most turns of the policy in an episode; 8 by default. */
  readonly maxTurns?: number | undefined;
  /** Seconds that a call may take; 30 by default. */
  readonly timeout?: number | undefined;
  /** Most calls that run at the same time; 16 by default. */
  readonly concurrency?: number | undefined;
  /** Longest result in characters; the rest is cut off. 4,000 by default. */
  readonly maxResultLength?: number | undefined;
  /** Frees what the tools hold, such as a connection. */
  readonly close?: (() => void | Promise<void>) | undefined;
}

/**
 * An environment that runs the tools that the policy calls. A turn without a call ends the episode.
 * Errors of any kind become results that the policy sees.
 * @example
 * tools({
 *   add: {
 *     description: 'Adds two numbers',
 *     inputSchema: z.object({ a: z.number(), b: z.number() }),
 *     execute: ({ a, b }) => a + b,
 *   },
 * })
 */
export function tools(set: ToolSet, options: ToolsOptions = {}): Environment {
  const ready = readTools(set);
  const { maxTurns = 8, timeout = 30, concurrency = 16, maxResultLength = 4000 } = options;
  for (const [name, value] of Object.entries({ maxTurns, concurrency, maxResultLength })) {
    expectThat(Number.isSafeInteger(value) && value >= 1, `${name} must be at least 1`, value);
  }
  expectThat(timeout > 0, 'timeout must be above 0 s', timeout);
  const limiter = new Limiter(concurrency);
  return {
    tools: [...ready.values()].map(({ description }) => description),
    hasRewards: false,
    ...(options.close && { close: options.close }),
    answer: async ({ messages, turn, truncated, signal }): Promise<EnvironmentAnswer> => {
      const { calls } = parseToolCalls(String(messages.at(-1)?.content ?? ''));
      if (calls.length === 0 || truncated || turn + 1 >= maxTurns) return { done: true };
      const records = await Promise.all(
        calls.map((call, i) =>
          limiter.run(() =>
            runCall(call, { ready, timeout, maxResultLength, signal, id: callId(turn, i) }),
          ),
        ),
      );
      return { messages: records.map((record, i) => toMessage(record, turn, i)), calls: records };
    },
  };
}

interface CallOptions {
  readonly ready: ReadonlyMap<string, ReadyTool>;
  readonly timeout: number;
  readonly maxResultLength: number;
  readonly signal: AbortSignal;
  readonly id: string;
}

async function runCall(call: ParsedToolCall, options: CallOptions): Promise<ToolCallRecord> {
  const started = performance.now();
  const result = await callTool(call, options);
  const seconds = (performance.now() - started) / 1000;
  const known = 'problem' in call ? {} : { tool: call.name, input: call.input };
  return { ...known, ...result, seconds };
}

/** Parses, checks and executes a call; an error becomes text for the policy. */
async function callTool(
  call: ParsedToolCall,
  { ready, timeout, maxResultLength, signal, id }: CallOptions,
): Promise<Pick<ToolCallRecord, 'output' | 'error'>> {
  const fail = (error: NonNullable<ToolCallRecord['error']>, message: string) => ({
    error,
    output: describeOutput({ error: message }, maxResultLength),
  });
  if ('problem' in call) return fail('invalid_json', call.problem);
  const tool = ready.get(call.name);
  if (tool === undefined) {
    const names = [...ready.keys()].join(', ');
    return fail('unknown_tool', `there is no tool ${call.name}; the tools are ${names}`);
  }
  const outcome = await runWithin(
    async (abortSignal) => {
      const checked = await tool.check(call.input);
      if ('problem' in checked) return { problem: checked.problem };
      const rest = { toolCallId: id, messages: [], abortSignal, context: undefined as never };
      return { output: await lastOf(tool.execute(checked.value, rest)) };
    },
    { seconds: timeout, signal },
  );
  return readOutcome(outcome);

  function readOutcome(
    ended: Outcome<{ problem: string } | { output: unknown }>,
  ): Pick<ToolCallRecord, 'output' | 'error'> {
    if (ended.kind === 'timeout') return fail('timeout', `no result within ${timeout} s`);
    if (ended.kind === 'error') return fail('exception', messageOf(ended.error));
    if ('problem' in ended.value) return fail('invalid_input', ended.value.problem);
    return { output: describeOutput(ended.value.output, maxResultLength) };
  }
}

/** A tool may return a value, a promise, or a stream of which the last value counts, as in the AI SDK. */
async function lastOf(result: unknown): Promise<unknown> {
  const value = await result;
  if (typeof value !== 'object' || value === null || !(Symbol.asyncIterator in value)) return value;
  let last: unknown;
  for await (const part of value as AsyncIterable<unknown>) last = part;
  return last;
}

function callId(turn: number, index: number): string {
  return `call_${turn}_${index}`;
}

function toMessage({ tool, output }: ToolCallRecord, turn: number, index: number): ChatMessage {
  const name = tool === undefined ? {} : { name: tool };
  return { role: 'tool', ...name, tool_call_id: callId(turn, index), content: output };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function expectThat(isMet: boolean, requirement: string, value: number): void {
  if (!isMet) throw new RangeError(`Cannot use the tools: ${requirement}, got ${value}`);
}
