import { beforeAll, describe, expect, test } from 'vitest';
import { readFixture, tokenizerFolders } from '../../../test/fixtures/tokenizer/folders.ts';
import { loadTokenizer } from './load-tokenizer.ts';
import { StreamingDecoder, type Tokenizer } from './tokenizer.ts';

interface Golden {
  readonly cases: {
    readonly name: string;
    readonly ids: number[];
    /** Without special tokens, if different. */
    readonly bareIds?: number[];
    /** What the ids decode to, if not the text. */
    readonly decoded?: string;
    readonly skipped?: string;
  }[];
}

const corpus: { name: string; text: string; repeat?: number }[] = JSON.parse(
  readFixture('corpus.json'),
).texts;
const texts = new Map(corpus.map(({ name, text, repeat = 1 }) => [name, text.repeat(repeat)]));

function stream(tokenizer: Tokenizer, ids: readonly number[]): string {
  const decoder = new StreamingDecoder(tokenizer);
  return ids.map((id) => decoder.push(id)).join('') + decoder.finish();
}

describe.each(tokenizerFolders)('$name', ({ name, folder, isAbsent, note }) => {
  const { cases }: Golden = JSON.parse(readFixture(`goldens/${name}.json`));
  let tokenizer: Tokenizer;
  beforeAll(async () => {
    if (!isAbsent) tokenizer = await loadTokenizer(folder);
  }, 60_000);

  test.skipIf(isAbsent)(
    `encodes the corpus like the native library${note}`,
    { timeout: 30_000 },
    () => {
      expect(cases.map((of) => of.name)).toEqual([...texts.keys()]);
      for (const of of cases) {
        const text = texts.get(of.name)!;
        const bare = tokenizer.encode(text, { addSpecialTokens: false });
        expect([...tokenizer.encode(text)], of.name).toEqual(of.ids);
        expect([...bare], of.name).toEqual(of.bareIds ?? of.ids);
      }
    },
  );

  test.skipIf(isAbsent)(
    `decodes the corpus like the native library${note}`,
    { timeout: 30_000 },
    () => {
      for (const { name: of, ids, decoded, skipped } of cases) {
        const text = texts.get(of)!.replace(/\p{Surrogate}/gu, '\ufffd');
        expect(tokenizer.decode(ids), of).toBe(decoded ?? text);
        expect(tokenizer.decode(ids, { skipSpecialTokens: true }), of).toBe(skipped ?? text);
        expect(tokenizer.pieces(ids).join(''), of).toBe(decoded ?? text);
        expect(stream(tokenizer, ids), of).toBe(decoded ?? text);
      }
    },
  );
});
