import { besideBusyProcess } from './busy-process.ts';
import type { PeerFacts, PeerRun } from './comparison.ts';
import { otherCores, sampleLoad } from './other-load.ts';
import type { Update, UpdateProcess } from './update-process.ts';

type OwnProcess = Pick<UpdateProcess<object, object>, 'name' | 'processId' | 'update'>;

interface AlternateOptions<Name extends string> {
  /** Measured one after another; without any, our process runs alone. */
  readonly peers: readonly Name[];
  /** Starts a peer; only one is alive at a time. */
  readonly start: (peer: Name) => Promise<UpdateProcess<object, PeerFacts>>;
  /** Updates of each process per peer. */
  readonly rounds: number;
  /** Whether another process keeps one core busy during the updates. */
  readonly contended: boolean;
  readonly onUpdate?: (name: string, update: Update) => void;
}

/** Runs our updates and those of each peer alternately, so that a slow quarter of an hour affects
 *  both. */
export async function alternate<Name extends string>(
  own: OwnProcess,
  { peers, start, contended, ...options }: AlternateOptions<Name>,
): Promise<Partial<Record<Name, PeerRun>>> {
  const measure = async (processes: readonly OwnProcess[]) => {
    const run = () => runRounds(processes, options);
    return contended ? besideBusyProcess(run) : run();
  };
  const runs: Partial<Record<Name, PeerRun>> = {};
  for (const name of peers) {
    const peer = await start(name);
    try {
      const before = sampleLoad([own.processId, peer.processId]);
      const [ownUpdates, peerUpdates] = await measure([own, peer]);
      const after = sampleLoad([own.processId, peer.processId]);
      const facts = await peer.finish();
      runs[name] = {
        ...{ own: ownUpdates!, peer: peerUpdates!, facts },
        ...(before && after && { otherCores: otherCores(before, after) }),
      };
    } finally {
      peer.stop();
    }
  }
  if (peers.length === 0) await measure([own]);
  return runs;
}

/** One update of each process per round, in order. */
async function runRounds(
  processes: readonly OwnProcess[],
  { rounds, onUpdate }: Pick<AlternateOptions<string>, 'rounds' | 'onUpdate'>,
): Promise<Update[][]> {
  const updates: Update[][] = processes.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, one] of processes.entries()) {
      const update = await one.update();
      onUpdate?.(one.name, update);
      updates[i]!.push(update);
    }
  }
  return updates;
}

/** Prints an update while a benchmark runs. */
export function printUpdate(name: string, { seconds, phases = {} }: Update): void {
  const parts = Object.entries(phases).map(([phase, time]) => `, ${phase} ${time.toFixed(2)}`);
  console.error(`${name}: ${seconds.toFixed(3)} s${parts.join('')}`);
}
