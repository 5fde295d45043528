import { expect, test } from 'vitest';
import { type DecoderConfig, makeDecoder } from './decoder.ts';

function decode(config: DecoderConfig | null, tokens: string[]): string {
  let text = '';
  const sink = makeDecoder(config)({
    push: (piece) => {
      text += piece;
    },
    finish: () => {},
  });
  tokens.forEach((token, at) => {
    sink.push(token, at);
  });
  sink.finish();
  return text;
}

test('makeDecoder() decodes Metaspace without a space in the first token, unless none was prepended', () => {
  expect(decode({ type: 'Metaspace', replacement: '▁' }, ['▁a', '▁b'])).toBe('a b');
  const never = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'never' };
  expect(decode(never, ['▁a', '▁b'])).toBe(' a b');
});

test('makeDecoder() strips each token before they are fused', () => {
  const strip = { type: 'Strip', content: ' ', start: 2, stop: 0 };
  expect(decode(strip, ['   a', ' b', 'c'])).toBe(' abc');
  const fused = { type: 'Sequence', decoders: [{ type: 'Fuse' }, strip] };
  expect(decode(fused, [' ', ' ', '  a', ' b'])).toBe('  a b');
});

test('makeDecoder() joins tokens with spaces if there is no decoder', () => {
  expect(decode(null, ['a', 'b'])).toBe('a b');
});

test.each<DecoderConfig>([
  { type: 'WordPiece' },
  { type: 'Strip', content: ' ', start: 0, stop: 1 },
  { type: 'Replace', content: ' ' },
])('makeDecoder() rejects what it cannot stream: $type', (config) => {
  expect(() => makeDecoder(config)).toThrow(
    `its decoder must consist of ByteLevel, ByteFallback, Fuse, Metaspace, Replace and Strip (at the start), got ${JSON.stringify(config)}`,
  );
});
