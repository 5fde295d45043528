import { describe, expect, test } from 'vitest';
import { parseToolCalls } from './parse-tool-calls.ts';

const problem = (text: string) => ({ problem: expect.stringContaining(text) });

describe('parseToolCalls()', () => {
  test('reads the tagged calls of Qwen and Hermes', () => {
    const text =
      'Let me add.\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>\n<tool_call>{"name": "now"}</tool_call>';
    expect(parseToolCalls(text)).toEqual({
      content: 'Let me add.',
      calls: [
        { name: 'add', input: { a: 1 } },
        { name: 'now', input: {} },
      ],
    });
  });

  test('reads the JSON calls of Llama 3, also several', () => {
    const text =
      '<|python_tag|>{"name": "add", "parameters": {"a": "x; y"}}; {"name": "now", "parameters": {}}';
    expect(parseToolCalls(text).calls).toEqual([
      { name: 'add', input: { a: 'x; y' } },
      { name: 'now', input: {} },
    ]);
    const typed = '{"type": "function", "name": "add", "parameters": {"a": 1}}';
    expect(parseToolCalls(typed).calls).toEqual([{ name: 'add', input: { a: 1 } }]);
  });

  test('reads arguments that are JSON in a string, and nested functions', () => {
    const call = '{"function": {"name": "add", "arguments": "{\\"a\\": 1}"}}';
    expect(parseToolCalls(call).calls).toEqual([{ name: 'add', input: { a: 1 } }]);
  });

  test('keeps text without a call', () => {
    for (const text of ['The answer is {7}.', '', '{"answer": 7}', '7']) {
      expect(parseToolCalls(text)).toEqual({ content: text, calls: [] });
    }
  });

  test.each([
    ['<tool_call>{"name": "add"', '</tool_call>'],
    ['<tool_call>{"name": add}</tool_call>', 'valid JSON'],
    ['<tool_call>[1]</tool_call>', '"name"'],
    ['<tool_call>null</tool_call>', '"name"'],
    ['<tool_call></tool_call>', 'valid JSON'],
    ['{"name": "add", "parameters": {', 'valid JSON'],
  ])('reports what is wrong with %s', (text, reason) => {
    expect(parseToolCalls(text).calls).toEqual([problem(reason)]);
  });
});
