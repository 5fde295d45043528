import type { RandomStream } from '../../src/engine/random/index.ts';

/** Nesting that overflows the stack of a recursive reader. */
const DEEP = 20_000;

const numbers = ['0', '-1', '1e308', '1e999', '9007199254740993', '99999999999999999999', '0.5'];
const texts = ['""', '"\\u0000"', '"__proto__"', '"😀"', '"../../x"', '"NaN"'];
const others = ['null', 'true', '[]', '{}', '[[]]', '{"__proto__":{"a":1}}', '[null]', '{"0":0}'];
const jsonTexts = [...numbers, ...texts, ...others];
const snippets = [
  ...[...'{}[]():,"\'\\-.%&*!|>#@`~=?<'],
  ...['\n', '\r\n', '\t', '\0', ' ', '\ufeff', '{{', '}}', '{%', '%}', '---', '...', '<<: *a'],
  ...['&a [*a]', '!!js/function', '0x', '1e', 'Infinity', 'constructor', '__proto__'],
];
const badUtf8 = ['ff', 'c0af', 'eda080', 'f8', '80', 'f09f98'].map((hex) =>
  Buffer.from(hex, 'hex'),
);

type Mutation = (bytes: Buffer, random: RandomStream) => Buffer;

/** A random part of the bytes. */
function pickRange(bytes: Buffer, random: RandomStream): readonly [from: number, to: number] {
  const from = random.integer(bytes.length + 1);
  const longest = random.integer(4) === 0 ? Math.max(1, bytes.length) : 16;
  return [from, Math.min(bytes.length, from + 1 + random.integer(longest))];
}

function replace(bytes: Buffer, [from, to]: readonly [number, number], by: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)]);
}

function pick<T>(items: readonly T[], random: RandomStream): T {
  return items[random.integer(items.length)]!;
}

const byteMutations: readonly Mutation[] = [
  // Flipped bits.
  (bytes, random) => {
    const changed = Buffer.from(bytes);
    for (let k = random.integer(8); k >= 0 && bytes.length > 0; k--) {
      const at = random.integer(bytes.length);
      changed[at] = changed[at]! ^ (1 << random.integer(8));
    }
    return changed;
  },
  // Truncated.
  (bytes, random) => bytes.subarray(0, random.integer(bytes.length + 1)),
  // A part deleted.
  (bytes, random) => replace(bytes, pickRange(bytes, random), new Uint8Array()),
  // A part repeated, sometimes elsewhere.
  (bytes, random) => {
    const [from, to] = pickRange(bytes, random);
    const at = random.integer(2) === 0 ? to : random.integer(bytes.length + 1);
    return replace(bytes, [at, at], bytes.subarray(from, to));
  },
  // Zeros or noise.
  (bytes, random) => {
    const [from, to] = pickRange(bytes, random);
    const isNoise = random.integer(2) === 0;
    const noise = Array.from({ length: to - from }, () => (isNoise ? random.integer(256) : 0));
    return replace(bytes, [from, to], Uint8Array.from(noise));
  },
  // Invalid UTF-8.
  (bytes, random) => {
    const at = random.integer(bytes.length + 1);
    return replace(bytes, [at, at], pick(badUtf8, random));
  },
  // Characters with a meaning.
  (bytes, random) => {
    const at = random.integer(bytes.length + 1);
    return replace(bytes, [at, at + random.integer(2)], Buffer.from(pick(snippets, random)));
  },
  // Another number.
  (bytes, random) => {
    const places = [...bytes.toString('latin1').matchAll(/\d+/g)];
    if (places.length === 0) return bytes;
    const { index, 0: digits } = pick(places, random);
    return replace(bytes, [index, index + digits.length], Buffer.from(pick(numbers, random)));
  },
];

const nestings = ['[', '{"a":', '(', '- ', '{{', '{% if a %}', '<'];

/** Something nested much deeper than any real file. */
const nestDeeply: Mutation = (bytes, random) => {
  const at = random.integer(bytes.length + 1);
  return replace(bytes, [at, at], Buffer.from(pick(nestings, random).repeat(DEEP)));
};

/** A JSON value of another type, another key, or a missing one, at any depth. */
function editJson(value: unknown, random: RandomStream): unknown {
  const isLeaf = typeof value !== 'object' || value === null;
  if (isLeaf || random.integer(6) === 0) return JSON.parse(pick(jsonTexts, random));
  if (Array.isArray(value)) {
    const at = random.integer(value.length + 1);
    const edited = random.integer(4) === 0 ? [] : [editJson(value[at], random)];
    return value.toSpliced(at, 1, ...edited);
  }
  const entries = Object.entries(value);
  const at = random.integer(entries.length + 1);
  const [key, inner] = entries[at] ?? ['x', null];
  const name = random.integer(8) === 0 ? pick(['__proto__', 'constructor', ''], random) : key;
  const edited = random.integer(6) === 0 ? [] : [[name, editJson(inner, random)] as const];
  return Object.fromEntries(entries.toSpliced(at, 1, ...(edited as [string, unknown][])));
}

/** Edits a file of JSON, or a line of it; other files are unchanged. */
const editAsJson: Mutation = (bytes, random) => {
  const lines = bytes.toString().split('\n');
  const isWhole = parse(bytes.toString()) !== undefined;
  const at = isWhole ? 0 : random.integer(lines.length);
  const value = isWhole ? parse(bytes.toString()) : parse(lines[at]!);
  if (value === undefined) return bytes;
  const edited = JSON.stringify(editJson(value, random));
  return Buffer.from(isWhole ? edited : lines.toSpliced(at, 1, edited).join('\n'));
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Changes a valid file in one to three random ways. */
export function mutate(bytes: Buffer, random: RandomStream): Buffer {
  let mutated = bytes;
  for (let k = 1 + random.integer(3); k > 0; k--) {
    if (random.integer(3) === 0) mutated = editAsJson(mutated, random);
    else if (random.integer(100) === 0) mutated = nestDeeply(mutated, random);
    else mutated = pick(byteMutations, random)(mutated, random);
  }
  return mutated;
}
