import { join } from 'node:path';
import { writeSafetensors } from '../../src/base-setup/safetensors/index.ts';
import { makeTempFolder } from './runtime-temp-folder.ts';

/** A folder for a model or an adapter. If PROXIMAL_CASES is set, it is created there and kept, so
 *  tools/oracle/peft/check_ours.py can open it. */
export function caseFolder(name: string): string {
  return join(process.env.PROXIMAL_CASES ?? makeTempFolder(), name);
}

interface OracleCase {
  readonly sequences: readonly (readonly number[])[];
  /** What we compute with the folder: one row per token. */
  readonly logits: Float32Array;
  /** The base of an adapter. */
  readonly base?: string;
}

/** Writes what an oracle should compute with the folder into a file next to it. */
export async function recordCase(
  folder: string,
  { sequences, logits, base }: OracleCase,
): Promise<void> {
  const rows = sequences.flat().length;
  const shape = [rows, logits.length / rows];
  await writeSafetensors(`${folder}.safetensors`, {
    tensors: [{ name: 'logits', shape }],
    stream: [{ name: 'logits', shape, data: logits }],
    metadata: { about: JSON.stringify({ sequences, base }) },
  });
}
