/** A process that reads mutated files. It ends if a file kills it; `mutations.ts` watches it. */

import { openSync, writeSync } from 'node:fs';
import { randomStream } from '../../src/engine/random/index.ts';
import { harmful } from '../../test/fixtures/safetensors/mutate.ts';
import { mutate } from './mutate.ts';
import { makeReaders, type Reader } from './readers.ts';

/** A request for cases of one reader: `first`, `first + 1`, … */
export interface MutationBatch {
  readonly reader: string;
  readonly first: number;
  /** Most cases. */
  readonly count: number;
}

/** Its answer. */
export interface MutationResult {
  readonly cases: number;
  readonly failures: readonly MutationFailure[];
}

interface MutationFailure extends Fault {
  readonly number: number;
}

/** What is wrong with an error. */
interface Fault {
  readonly message: string;
  /** Errors of the same kind have the same cause. */
  readonly kind: string;
}

const safetensorsMutations = Object.values(harmful);

/** The file of a case. */
function makeInput(name: string, { inputs }: Reader, number: number): Buffer {
  const random = randomStream('mutation', name, number);
  const input = inputs[random.integer(inputs.length)]!;
  // Most generic mutations of this format only break its length.
  if (name !== 'safetensors' || random.integer(2) === 0) return mutate(input, random);
  const change = safetensorsMutations[random.integer(safetensorsMutations.length)]!;
  return change(input, (end) => random.integer(Math.max(1, end)));
}

/** Messages of JavaScript itself, which say nothing about the file. */
const rawMessages =
  /Cannot read propert|Cannot set propert|Cannot convert|Cannot destructure|is not a function|is not iterable|is not a constructor|is not defined|Maximum call stack|Invalid (array|string|typed array) length|Array buffer allocation|undefined is not|null is not|must be of type|Cannot mix BigInt|out of range|Offset is outside|is not an object|Invalid regular expression|Class extends|circular structure/;

/** What is wrong with an error; undefined if it is clear. */
function findFault(error: unknown): Fault | undefined {
  const text = error instanceof Error ? error.message : String(error);
  const rule = findBrokenRule(error);
  if (rule === undefined) return undefined;
  const [raw] = rawMessages.exec(text) ?? [''];
  return { message: `${rule}, got: ${text}`, kind: `${rule} ${raw}` };
}

function findBrokenRule(error: unknown): string | undefined {
  if (!(error instanceof Error)) return 'it must throw an Error';
  // Details in parentheses may be the words of a library.
  const message = error.message.replace(/\(.*\)/s, '');
  if (rawMessages.test(message)) return 'an error must be about the file';
  if (message.startsWith('Internal:')) return 'it must not be an internal error';
  return message.startsWith('Cannot ') ? undefined : 'an error must start with its action';
}

async function runBatch(
  readers: Readonly<Record<string, Reader>>,
  { reader: name, first, count }: MutationBatch,
): Promise<MutationResult> {
  const reader = readers[name]!;
  const failures: MutationFailure[] = [];
  let cases = 0;
  while (cases < count) {
    const number = first + cases++;
    // Survives the end of this process.
    writeSync(progress, `${number}\n`.padStart(20), 0);
    const input = makeInput(name, reader, number);
    try {
      await reader.read(input);
    } catch (error) {
      const fault = findFault(error);
      if (fault !== undefined) failures.push({ number, ...fault });
    }
  }
  return { cases, failures };
}

const [folder, progressPath] = process.argv.slice(2) as [string, string];
const progress = openSync(progressPath, 'w');
const readers = await makeReaders(folder);
process.on('disconnect', () => process.exit());
process.on('message', async (batch: MutationBatch) => {
  process.send!(await runBatch(readers, batch));
});
process.send!(Object.keys(readers));
