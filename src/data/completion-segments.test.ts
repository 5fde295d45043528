import { describe, expect, test } from 'vitest';
import { qwen3Folder } from '../../test/fixtures/tokenizer/folders.ts';
import { loadTokenizer } from '../base-setup/tokenizer/index.ts';
import { encodeSegments, segmentChat } from './completion-segments.ts';

const tokenizer = await loadTokenizer(qwen3Folder);
const options = { tokenizer, origin: 'chats.jsonl line 1' };
const user = { role: 'user', content: 'What is 12*34?' };
const call = (input: unknown) => ({
  role: 'assistant',
  content: '',
  tool_calls: [{ type: 'function', function: { name: 'calculator', arguments: input } }],
});
const result = { role: 'tool', name: 'calculator', content: '408' };
const answer = { role: 'assistant', content: 'It is 408.' };
const trained = (messages: Parameters<typeof segmentChat>[0]) =>
  segmentChat(messages, options)
    .segments.filter(({ isTrained }) => isTrained)
    .map(({ text }) => text);

describe('segmentChat() with tool calls', () => {
  test('trains calls and answers with their ends of turn; results are context', () => {
    const messages = [user, call({ expression: '12*34' }), result, answer];
    const { segments } = segmentChat(messages, options);
    expect(segments.map(({ text }) => text).join('')).toBe(
      tokenizer.applyChatTemplate(messages).trimEnd(),
    );
    expect(trained(messages)).toEqual([
      '<tool_call>\n{"name": "calculator", "arguments": {"expression": "12*34"}}\n</tool_call><|im_end|>',
      expect.stringMatching(/It is 408\.<\|im_end\|>$/),
    ]);
    const contexts = segments.filter(({ isTrained }) => !isTrained).map(({ text }) => text);
    expect(contexts[1]).toContain('<tool_response>\n408\n</tool_response>');
  });

  test('accepts arguments as JSON, several calls in a turn, and a call as the last turn', () => {
    const [first] = call('{"expression": "12*34"}').tool_calls;
    const both = { ...call({}), content: 'Both.', tool_calls: [first, first] };
    const [text, ...others] = trained([user, both]);
    expect(others).toEqual([]);
    expect(text).toMatch(
      /Both\.\n<tool_call>\n.*\n<\/tool_call>\n<tool_call>\n.*<\/tool_call><\|im_end\|>$/s,
    );
  });

  test('masks the same tokens as the segments say', () => {
    const { segments } = segmentChat([user, call({ expression: '1*2' }), result, answer], options);
    const encoded = encodeSegments(segments, {
      ...{ tokenizer, addSpecialTokens: false, appendEos: false },
    });
    const kept = encoded.tokens.filter((_, t) => encoded.lossMask[t] === 1);
    const expected = segments.filter(({ isTrained }) => isTrained).map(({ text }) => text);
    expect(tokenizer.decode(kept)).toBe(expected.join(''));
  });

  test('describes the tools to the model', () => {
    const tools = [{ type: 'function', function: { name: 'calculator', parameters: {} } }];
    const { segments } = segmentChat([user, call({}), result, answer], { ...options, tools });
    expect(segments[0]!.text).toContain('"name": "calculator"');
    expect(segments[1]!.text).toMatch(/^<tool_call>/);
  });

  test('rejects a turn with neither text nor calls', () => {
    expect(() => segmentChat([user, { role: 'assistant', content: '' }], options)).toThrow(
      'Cannot read chats.jsonl line 1: each assistant turn must have text or tool calls, got one without either',
    );
  });
});
