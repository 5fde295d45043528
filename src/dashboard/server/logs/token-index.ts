import type { LineSink } from '../../../fs/index.ts';
import type { SampleRow } from '../../api.ts';
import { parseRecord } from './log-record.ts';
import type { LinePlace } from './read-records.ts';

type SampleKey = Pick<SampleRow, 'step' | 'promptIdx' | 'sample'>;

/** How lines of `tokens.jsonl` begin: their many numbers need not be read to know whose they are. */
const beginning = /^\{"step":(\d+),"promptIdx":(\d+),"sample":(\d+),/;
const LONGEST_BEGINNING = 100;

/** Where the tokens of each sample lie in `tokens.jsonl`. A step with few prompts takes one several
 *  times: samples of one key come in the order of `samples.jsonl`. */
export class TokenIndex implements LineSink {
  private readonly places = new Map<string, LinePlace[]>();

  add(bytes: Buffer, offset: number): boolean {
    const key = readKey(bytes);
    if (key === undefined) return false;
    const place = { offset, size: bytes.length };
    const places = this.places.get(key);
    if (places === undefined) this.places.set(key, [place]);
    else places.push(place);
    return true;
  }

  clear(): void {
    this.places.clear();
  }

  /** @param nth samples of the same key before this one */
  placeOf({ step, promptIdx, sample }: SampleKey, nth: number): LinePlace | undefined {
    return this.places.get(`${step},${promptIdx},${sample}`)?.[nth];
  }
}

function readKey(bytes: Buffer): string | undefined {
  const match = beginning.exec(bytes.toString('latin1', 0, LONGEST_BEGINNING));
  if (match !== null) return match.slice(1).join(',');
  const record = parseRecord(bytes);
  if (record === undefined) return undefined;
  const { step, promptIdx, sample } = record;
  return [promptIdx, sample].every(Number.isSafeInteger)
    ? `${step},${promptIdx},${sample}`
    : undefined;
}
