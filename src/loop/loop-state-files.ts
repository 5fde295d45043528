import { join } from 'node:path';
import { readRegularText, writeAtomically } from '../fs/index.ts';
import { type LoopState, parseLoopState } from './loop-state.ts';

/** The file of a checkpoint with everything but weights and moments. */
export const loopStateName = 'state.json';

/** Writes the state into the folder of a checkpoint. */
export async function writeLoopState(
  folder: string,
  state: Readonly<Record<keyof LoopState, unknown>>,
): Promise<void> {
  const json = JSON.stringify(state, undefined, 2);
  await writeAtomically(join(folder, loopStateName), `${json}\n`);
}

/** Reads what `writeLoopState` wrote. */
export async function readLoopState(folder: string): Promise<LoopState> {
  const file = join(folder, loopStateName);
  return parseLoopState(await readRegularText(file), file);
}
