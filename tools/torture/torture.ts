import { availableParallelism } from 'node:os';
import { hasRedis } from '../../bench/redis-process.ts';
import { Arena, type Attack, type Counts, type Failure } from './arena.ts';
import { buildProgram } from './build-program.ts';
import { fullDisks } from './full-disks.ts';
import { kills } from './kills.ts';
import { Labeller } from './labeller.ts';
import { mutations } from './mutations.ts';
import { people } from './people.ts';
import { powerCuts } from './power-cuts.ts';
import { requests } from './requests.ts';
import { startRewardServer } from './reward-server.ts';
import { writeRunKinds } from './run-kinds.ts';
import { Runs } from './runs.ts';
import { workers } from './workers.ts';
import { writeTinyModel } from './write-tiny-model.ts';

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
  /** Cases at the same time; one per core by default. */
  readonly atOnce?: number | undefined;
  /** Called with a sentence about what cannot be attacked here. */
  readonly onSkip?: ((message: string) => void) | undefined;
  /** Called after each case. */
  readonly onProgress?: ((counts: Counts, failures: readonly Failure[]) => void) | undefined;
  /** Ends the attacks and this process, and leaves nothing behind. */
  readonly signal?: AbortSignal | undefined;
}

/** What happened. */
export interface TortureReport extends Readonly<Counts> {
  /** Mutations by reader. */
  readonly readers: Readonly<Record<string, number>>;
  readonly failures: readonly Failure[];
}

/** Attacks the system until the time is over: kills, power cuts, full disks, mutated files and hostile
 *  requests. Everything happens in a temporary folder and on the loopback interface. */
export async function torture(options: TortureOptions): Promise<TortureReport> {
  const arena = new Arena();
  const stop = () => arena.close().then(() => process.exit(INTERRUPTED));
  options.signal?.addEventListener('abort', stop);
  try {
    const attacks = await prepareAttacks(arena, options);
    if (options.case === undefined) await attackInTurn(arena, attacks, options);
    else await attackOnce(arena, attacks, options.case);
    const readers = Object.fromEntries([...arena.readers].sort());
    return { ...arena.counts, readers, failures: arena.failures };
  } finally {
    options.signal?.removeEventListener('abort', stop);
    await arena.close();
  }
}

async function prepareAttacks(
  arena: Arena,
  { onSkip }: TortureOptions,
): Promise<readonly Attack[]> {
  const rewards = await startRewardServer();
  arena.onClose(() => rewards.close());
  const program = buildProgram(arena.newFolder('program'));
  const model = arena.newFolder('model');
  await writeTinyModel(model);
  const labeller = new Labeller(arena);
  const kinds = writeRunKinds(arena.newFolder('kinds'), {
    ...{ model, rewardUrl: rewards.url, peopleFolder: labeller.folder },
  });
  const runs = new Runs(arena, { program, rewards });
  const alone = { runs, kinds: kinds.alone };
  const attacks = [
    kills(arena, alone),
    powerCuts(arena, alone),
    fullDisks(arena, alone),
    mutations(arena),
    requests(arena, { runs, kind: kinds.alone[0]! }),
    people(arena, { runs, kind: kinds.people, labeller }),
  ];
  if (hasRedis()) return [...attacks, workers(arena, { runs, kinds: kinds.workers })];
  onSkip?.('Workers are not attacked: redis-server must be on the path, got none');
  return attacks;
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

/** Runs cases until the time is over, several at once. The next case is of the attack that is furthest
 *  behind its share; each attack runs at least once. The n-th case of an attack is the same whatever the
 *  others do. */
async function attackInTurn(
  arena: Arena,
  all: readonly Attack[],
  { seconds = 0, cases: most, seed, only, atOnce, onProgress }: TortureOptions,
): Promise<void> {
  const end = performance.now() + 1000 * seconds;
  const attacks = all.filter(({ name }) => only === undefined || only.includes(name));
  const turns = attacks.map((attack) => ({ attack, cases: 0, ended: 0, spent: 0 }));
  const attackOneByOne = async () => {
    for (;;) {
      const left = (end - performance.now()) / 1000;
      const possible = turns.filter(({ cases, ended, spent }) =>
        most === undefined ? cases === 0 || spent <= left * ended : cases < most,
      );
      const [next] = possible.sort(
        (a, b) => a.cases / a.attack.perHour - b.cases / b.attack.perHour,
      );
      if (next === undefined) return;
      const start = performance.now();
      await attackSafely(arena, next.attack, `${seed}-${next.cases++}`);
      next.ended++;
      next.spent += (performance.now() - start) / 1000;
      onProgress?.(arena.counts, arena.failures);
    }
  };
  await Promise.all(Array.from({ length: atOnce ?? availableParallelism() }, attackOneByOne));
}
