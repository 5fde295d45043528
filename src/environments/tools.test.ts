import { jsonSchema, tool } from 'ai';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { episodeMetrics } from './episode-metrics.ts';
import type { ToolSet } from './tool-set.ts';
import { type ToolsOptions, tools } from './tools.ts';

const pair = z.object({ a: z.number(), b: z.number() });
const add = {
  description: 'Adds two numbers',
  inputSchema: pair,
  execute: ({ a, b }: z.infer<typeof pair>) => a + b,
};

const call = (name: string, input: unknown) =>
  `<tool_call>${JSON.stringify({ name, arguments: input })}</tool_call>`;

/** The environment's answer to one turn. */
function answer(
  set: ToolSet,
  content: string,
  { turn = 0, signal, ...options }: ToolsOptions & { turn?: number; signal?: AbortSignal } = {},
) {
  return tools(set, options).answer({
    messages: [
      { role: 'user', content: '?' },
      { role: 'assistant', content },
    ],
    turn,
    row: {},
    truncated: false,
    signal: signal ?? new AbortController().signal,
  });
}

describe('tools()', () => {
  test('runs a call and returns its result as a tool message', async () => {
    expect(await answer({ add }, call('add', { a: 2, b: 3 }))).toMatchObject({
      messages: [{ role: 'tool', name: 'add', tool_call_id: 'call_0_0', content: '5' }],
      calls: [{ tool: 'add', input: { a: 2, b: 3 }, output: '5' }],
    });
  });

  test('describes its tools to the chat template', () => {
    expect(tools({ add }).tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'add',
          description: 'Adds two numbers',
          parameters: {
            type: 'object',
            properties: { a: { type: 'number' }, b: { type: 'number' } },
            required: ['a', 'b'],
          },
        },
      },
    ]);
  });

  test("accepts the AI SDK's tools unchanged", async () => {
    const set = {
      add: tool({ description: 'Adds', inputSchema: pair, execute: async ({ a, b }) => a + b }),
      echo: tool({
        inputSchema: jsonSchema<{ text: string }>({
          type: 'object',
          properties: { text: { type: 'string' } },
        }),
        async *execute({ text }, { toolCallId }) {
          yield 'partial';
          yield { toolCallId, text };
        },
      }),
    };
    const environment = tools(set);
    expect(environment.tools).toMatchObject([
      { function: { name: 'add', parameters: { required: ['a', 'b'] } } },
      { function: { name: 'echo', parameters: { properties: { text: { type: 'string' } } } } },
    ]);
    const { calls } = (await answer(
      set,
      call('add', { a: 2, b: 3 }) + call('echo', { text: 'hi' }),
    ))!;
    expect(calls!.map(({ output }) => output)).toEqual([
      '5',
      '{"toolCallId":"call_0_1","text":"hi"}',
    ]);
    const invalid = (await answer(set, call('add', { a: 'two', b: 3 })))!;
    expect(invalid.calls).toMatchObject([{ error: 'invalid_input' }]);
  });

  test('turns every kind of failure into a result that the model sees', async () => {
    const set = {
      add,
      fail: {
        execute: () => {
          throw new Error('no network');
        },
      },
      hang: { execute: () => new Promise(() => {}) },
    };
    const content = [
      '<tool_call>{oops}</tool_call>',
      call('sub', {}),
      call('add', { a: 1 }),
      call('fail', {}),
      call('hang', {}),
    ].join('');
    const { messages, calls } = (await answer(set, content, { timeout: 0.05 }))!;
    expect(calls!.map(({ error }) => error)).toEqual([
      'invalid_json',
      'unknown_tool',
      'invalid_input',
      'exception',
      'timeout',
    ]);
    const errors = messages!.map(({ content: text }) => JSON.parse(String(text)).error);
    expect(errors).toEqual([
      expect.stringContaining('valid JSON'),
      'there is no tool sub; the tools are add, fail, hang',
      expect.stringContaining('b: '),
      'no network',
      'no result within 0.05 s',
    ]);
    const metrics = episodeMetrics([{ messages: [], turns: [{ end: 9, calls: calls! }] }]);
    expect(metrics).toMatchObject({
      'tools/calls': 5,
      'tools/valid_calls': 0,
      'tools/errors/invalid_json': 1,
      'tools/errors/unknown_tool': 1,
      'tools/errors/invalid_input': 1,
      'tools/errors/exception': 1,
      'tools/errors/timeout': 1,
    });
  });

  test('ends the episode after a turn without a call, at maxTurns and when truncated', async () => {
    expect(await answer({ add }, 'The sum is 5.')).toEqual({ done: true });
    const last = { maxTurns: 2, turn: 1 };
    expect(await answer({ add }, call('add', { a: 1, b: 1 }), last)).toEqual({ done: true });
  });

  test('returns results in the order of the calls and runs few of them at a time', async () => {
    let [running, most] = [0, 0];
    const slow = {
      inputSchema: z.object({ ms: z.number() }),
      execute: async ({ ms }: { ms: number }) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, ms));
        running--;
        return ms;
      },
    };
    const content = [20, 5, 10, 1, 2].map((ms) => call('slow', { ms })).join('');
    const { calls } = (await answer({ slow }, content, { concurrency: 2 }))!;
    expect(calls!.map(({ output }) => output)).toEqual(['20', '5', '10', '1', '2']);
    expect(most).toBe(2);
  });

  test('aborts the signal of a call that takes too long, and gives up when aborted itself', async () => {
    const seen = vi.fn();
    const hang = {
      execute: (_: never, { abortSignal }: { abortSignal: AbortSignal }) => {
        abortSignal.addEventListener('abort', seen);
        return new Promise(() => {});
      },
    };
    await answer({ hang }, call('hang', {}), { timeout: 0.02 });
    expect(seen).toHaveBeenCalledOnce();
    const stop = new AbortController();
    const pending = answer({ hang }, call('hang', {}), { signal: stop.signal });
    stop.abort(new Error('stopped by the user'));
    await expect(pending).rejects.toThrow('stopped by the user');
  });

  test('shortens long results and removes control characters', async () => {
    const big = { execute: () => 'x'.repeat(2 ** 20) };
    const odd = { execute: () => 'a\u0000b\u001b[31mc\nd\te\u009f' };
    const { calls } = (await answer({ big, odd }, call('big', {}) + call('odd', {}), {
      maxResultLength: 10,
    }))!;
    expect(calls!.map(({ output }) => output)).toEqual([
      'xxxxxxxxxx… (1048566 more characters)',
      'ab[31mc\nd\t… (1 more characters)',
    ]);
  });

  test('rejects tools that cannot work', () => {
    expect(() => tools({})).toThrow('at least one');
    expect(() => tools({ add: { description: 'x' } })).toThrow('"add"');
    expect(() => tools({ add: { inputSchema: 7, execute: () => 1 } })).toThrow('inputSchema');
    expect(() => tools({ add }, { maxTurns: 0 })).toThrow('maxTurns must be at least 1, got 0');
    expect(() => tools({ add }, { timeout: 0 })).toThrow('timeout must be above 0 s, got 0');
  });
});
