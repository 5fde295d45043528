import { setTimeout as wait } from 'node:timers/promises';
import { besideBusyProcess } from './busy-process.ts';
import type { PeerFacts, PeerRun } from './comparison.ts';
import { otherCores, sampleLoad } from './other-load.ts';
import type { Update, UpdateProcess } from './update-process.ts';

/** With `quiet`, other processes may use this many cores during an update. */
export const QUIET_CORES = 0.2;
const LOOK_SECONDS = 0.5;
/** With `quiet`: the longest wait for a quiet machine, and the most attempts per round. */
const MOST_SECONDS = 900;
export const MOST_ATTEMPTS = 20;

type Measured = Pick<UpdateProcess<object, object>, 'name' | 'processId' | 'update'>;

/** An update and the mean number of cores that other processes used meanwhile. */
type LoadedUpdate = Update & { readonly otherCores?: number };

interface RoundOptions {
  /** Updates of each process per peer. */
  readonly rounds: number;
  /** Whether another process keeps one core busy during the updates. */
  readonly contended: boolean;
  /** Whether to wait until other processes rest, and to repeat rounds in which they did not. */
  readonly quiet: boolean;
  readonly onUpdate?: (name: string, update: LoadedUpdate) => void;
}

interface AlternateOptions<Name extends string> extends RoundOptions {
  /** Measured one after another; without any, our process runs alone. */
  readonly peers: readonly Name[];
  /** Starts a peer; only one is alive at a time. */
  readonly start: (peer: Name) => Promise<UpdateProcess<object, PeerFacts>>;
}

interface Alternated<Name extends string> {
  readonly runs: Readonly<Partial<Record<Name, PeerRun>>>;
  /** All our updates. */
  readonly own: readonly Update[];
}

/** Runs our updates and those of each peer alternately, so that a slow quarter of an hour affects
 *  both. */
export async function alternate<Name extends string>(
  own: Measured,
  { peers, start, ...options }: AlternateOptions<Name>,
): Promise<Alternated<Name>> {
  const runs: Partial<Record<Name, PeerRun>> = {};
  for (const name of peers) {
    const peer = await start(name);
    try {
      const rounds = await runRounds([own, peer], options);
      const loads = rounds.flat().flatMap(({ otherCores: cores }) => cores ?? []);
      runs[name] = {
        ...{ own: rounds.map(([first]) => first!), peer: rounds.map(([, second]) => second!) },
        facts: await peer.finish(),
        ...(loads.length > 0 && { otherCores: Math.max(...loads) }),
      };
    } finally {
      peer.stop();
    }
  }
  const alone = peers.length === 0 ? await runRounds([own], options) : [];
  const beside = Object.values<PeerRun>(runs as Record<Name, PeerRun>).flatMap((run) => run.own);
  return { runs, own: [...beside, ...alone.flat()] };
}

/** One update of each process per round, in order. */
async function runRounds(
  processes: readonly Measured[],
  { rounds, contended, quiet, onUpdate }: RoundOptions,
): Promise<LoadedUpdate[][]> {
  const run = async (busyIds: readonly number[]) => {
    const ids = [...busyIds, ...processes.map(({ processId }) => processId), process.pid];
    const measured: LoadedUpdate[][] = [];
    for (let attempt = 1; measured.length < rounds; attempt++) {
      if (quiet) await waitForQuiet(ids);
      const updates: LoadedUpdate[] = [];
      for (const one of processes) {
        const update = await runUpdate(one, ids);
        onUpdate?.(one.name, update);
        updates.push(update);
      }
      const load = Math.max(...updates.map(({ otherCores: cores = 0 }) => cores));
      if (!quiet || load <= QUIET_CORES) measured.push(updates);
      else if (attempt > rounds * MOST_ATTEMPTS) throw new Error(describeLoad(load));
    }
    return measured;
  };
  return contended ? besideBusyProcess((id) => run([id])) : run([]);
}

async function runUpdate(one: Measured, ids: readonly number[]): Promise<LoadedUpdate> {
  const sample = () => ({ all: sampleLoad(ids), one: sampleLoad([one.processId]) });
  const before = sample();
  const update = await one.update();
  const after = sample();
  if (!before.all || !before.one || !after.all || !after.one) return update;
  const cpuSeconds = after.one.own - before.one.own;
  return { ...update, cpuSeconds, otherCores: otherCores(before.all, after.all) };
}

/** Waits until other processes use few cores. */
export async function waitForQuiet(ids: readonly number[]): Promise<void> {
  let load = 0;
  for (let waited = 0; waited < MOST_SECONDS; waited += LOOK_SECONDS) {
    const before = sampleLoad(ids);
    await wait(1000 * LOOK_SECONDS);
    const after = sampleLoad(ids);
    load = before && after ? otherCores(before, after) : 0;
    if (load <= QUIET_CORES) return;
  }
  throw new Error(describeLoad(load));
}

export const describeLoad = (load: number) =>
  `Cannot measure on a busy machine: with --quiet other processes must use at most ${QUIET_CORES} cores, got ${load.toFixed(2)}; end them, or leave out --quiet`;

/** Prints an update while a benchmark runs. */
export function printUpdate(name: string, update: LoadedUpdate): void {
  const { seconds, phases = {}, otherCores: load } = update;
  const parts = Object.entries(phases).map(([phase, time]) => `, ${phase} ${time.toFixed(2)}`);
  const others = load === undefined ? '' : `; others used ${load.toFixed(2)} cores`;
  console.error(`${name}: ${seconds.toFixed(3)} s${parts.join('')}${others}`);
}
