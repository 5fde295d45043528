/** Why a row cannot be used. */
export type BadRowReason =
  | 'invalid-utf8'
  | 'invalid-row'
  | 'missing-column'
  | 'wrong-type'
  | 'mixed-formats'
  | 'empty-prompt'
  | 'empty-completion'
  | 'equal-sides'
  | 'out-of-range'
  | 'chat-template'
  | 'too-long';

interface LineFaultOptions {
  readonly reason: BadRowReason;
  /** Where the row stands: `pairs.jsonl line 7`. */
  readonly origin: string;
  readonly cause?: unknown;
}

/** One row that cannot be used, while those after it can. */
export class LineFault extends Error {
  override readonly name = 'LineFault';
  readonly reason: BadRowReason;
  readonly origin: string;

  constructor(message: string, { reason, origin, cause }: LineFaultOptions) {
    super(message, cause === undefined ? {} : { cause });
    this.reason = reason;
    this.origin = origin;
  }
}

/** Takes what is wrong with a row; reading goes on behind it unless it throws. */
export type FaultHandler = (fault: LineFault) => void;

export const throwFault: FaultHandler = (fault) => {
  throw fault;
};

/** What `make` gives, or nothing if the row cannot be used. */
export function orFault<T>(make: () => T, onFault: FaultHandler): T | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof LineFault)) throw error;
    onFault(error);
    return undefined;
  }
}

/** Where bytes stop being UTF-8: the first byte, from 0, of what is no character.
 *  @example 61 C3 A4 FF 62  →  3
 *  @example 61 E2 82        →  1, as the end cuts a character */
export function findInvalidUtf8(bytes: Uint8Array): number {
  const replacement = [0xef, 0xbf, 0xbd];
  const mended = Buffer.from(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
  const i = mended.findIndex((byte, at) => byte !== bytes[at]);
  // What is no character may begin with the same bytes as the mark that stands for it.
  return i - replacement.indexOf(mended[i]!);
}
