import { Arena, type Attack, type Counts, type Failure } from './arena.ts';
import { fullDisks } from './full-disks.ts';
import { kills } from './kills.ts';
import { mutations } from './mutations.ts';
import { powerCuts } from './power-cuts.ts';
import { requests } from './requests.ts';
import { startRewardServer } from './reward-server.ts';
import { writeRunKinds } from './run-kinds.ts';
import { Runs } from './runs.ts';

/** Exit code after Ctrl-C. */
const INTERRUPTED = 130;

/** How long to attack, how often, or which case. */
export interface TortureOptions {
  readonly seconds?: number;
  /** Cases of each attack, instead of a time: the same ones on every machine. */
  readonly cases?: number;
  readonly seed: string;
  /** A single case as in a failure, instead of many. */
  readonly case?: string | undefined;
  /** Names of the attacks; all by default. */
  readonly only?: readonly string[] | undefined;
  /** Called after each case. */
  readonly onProgress?: ((counts: Counts, failures: number) => void) | undefined;
  /** Ends the attacks and this process, and leaves nothing behind. */
  readonly signal?: AbortSignal | undefined;
}

/** What happened. */
export interface TortureReport extends Readonly<Counts> {
  readonly failures: readonly Failure[];
}

/** Attacks the system until the time is over: kills, power cuts, full disks, mutated files and hostile
 *  requests. Everything happens in a temporary folder and on the loopback interface. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const arena = new Arena();
  const stop = () => arena.close().then(() => process.exit(INTERRUPTED));
  options.signal?.addEventListener('abort', stop);
  try {
    const attacks = await prepareAttacks(arena);
    if (options.case === undefined) await attackInTurn(arena, attacks, options);
    else await attackOnce(arena, attacks, options.case);
    return { ...arena.counts, failures: arena.failures };
  } finally {
    options.signal?.removeEventListener('abort', stop);
    await arena.close();
  }
}

async function prepareAttacks(arena: Arena): Promise<readonly Attack[]> {
  const server = await startRewardServer();
  arena.onClose(() => server.close());
  const kinds = writeRunKinds(arena.newFolder('kinds'), server.url);
  const runs = new Runs(arena, { kinds, rewards: server });
  return [
    kills(arena, runs),
    powerCuts(arena, runs),
    fullDisks(arena, runs),
    mutations(arena),
    requests(arena, runs),
  ];
}

async function attackOnce(arena: Arena, attacks: readonly Attack[], name: string): Promise<void> {
  const [attackName, ...seed] = name.split('/');
  const attack = attacks.find((it) => it.name === attackName);
  if (attack === undefined || seed.length === 0) {
    const names = attacks.map((it) => it.name).join(', ');
    throw new RangeError(
      `Cannot run the case "${name}": it must be ATTACK/SEED with one of ${names}`,
    );
  }
  await attackSafely(arena, attack, seed.join('/'));
}

/** An attack that cannot be carried out is a failure too. */
async function attackSafely(arena: Arena, attack: Attack, seed: string): Promise<void> {
  try {
    await attack.attack(seed);
  } catch (error) {
    arena.fail(`${attack.name}/${seed}`, error instanceof Error ? error.message : String(error));
  }
}

/** Chooses the attack that has had the least time for its weight, so that all advance; each runs at least
 *  once. The n-th case of an attack is the same whatever the others do. */
async function attackInTurn(
  arena: Arena,
  all: readonly Attack[],
  { seconds = 0, cases: most, seed, only, onProgress }: TortureOptions,
): Promise<void> {
  const end = performance.now() + 1000 * seconds;
  const attacks = all.filter(({ name }) => only === undefined || only.includes(name));
  const turns = attacks.map((attack) => ({ attack, cases: 0, spent: 0 }));
  for (;;) {
    const left = (end - performance.now()) / 1000;
    const possible = turns.filter(({ cases, spent }) =>
      most === undefined ? cases === 0 || spent / cases <= left : cases < most,
    );
    const [next] = possible.sort((a, b) => a.spent / a.attack.weight - b.spent / b.attack.weight);
    if (next === undefined) return;
    const start = performance.now();
    await attackSafely(arena, next.attack, `${seed}-${next.cases++}`);
    next.spent += (performance.now() - start) / 1000;
    onProgress?.(arena.counts, arena.failures.length);
  }
}
