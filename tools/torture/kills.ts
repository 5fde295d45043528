import { type RandomStream, randomStream } from '../../src/engine/random/index.ts';
import type { Arena, Attack } from './arena.ts';
import { chooseOperation } from './moments.ts';
import type { RunKind } from './run-kinds.ts';
import {
  type Disturbance,
  kindOf,
  lastLine,
  listCheckpoints,
  type Runs,
  type Twin,
} from './runs.ts';

/** Kills of one run, at most. */
const MAX_KILLS = 12;
/** Time of a resumed run, as a share of a whole one. */
const RESUMED = 0.6;

/** Kills a run with SIGKILL again and again, resumes it each time, and lets it finish. */
export function kills(
  arena: Arena,
  { runs, kinds }: { readonly runs: Runs; readonly kinds: readonly RunKind[] },
): Attack {
  return {
    ...{ name: 'kill', perHour: 140 },
    async attack(seed) {
      const kind = kindOf(seed, kinds);
      const random = randomStream('kill', seed);
      const problem = await killAndFinish(runs, { kind, random, most: MAX_KILLS });
      if (problem !== undefined) arena.fail(`kill/${seed}`, problem);
    },
  };
}

/** How to kill a run. */
export interface KillPlan {
  readonly kind: RunKind;
  readonly random: RandomStream;
  /** Number of kills, at most. */
  readonly most: number;
  /** Further arguments of the command. */
  readonly flags?: readonly string[];
  /** Looks at the finished run before it is removed.
   *  @returns what is wrong; undefined if nothing is */
  readonly check?: (folder: string) => Promise<string | undefined>;
}

/** Kills a run until it finishes before its next kill, or often enough; then it must finish like its twin.
 *  Most kills are before an operation on the run's folder, which is exactly reproducible, the others at a
 *  time.
 *  @returns what is wrong; undefined if nothing is */
export async function killAndFinish(
  runs: Runs,
  { kind, random, most, flags = [], check }: KillPlan,
): Promise<string | undefined> {
  const twin = await runs.twin(kind);
  const folder = runs.newFolder(kind, 'killed');
  const moments: string[] = [];
  const describe = (problem: string) => `${kind.name}, killed ${moments.join(', ')}: ${problem}`;
  while (moments.length < most) {
    const isFirst = moments.length === 0;
    const disturbance = chooseKill(twin, { random, folder });
    const { killAfter, killAt } = disturbance;
    const ended = isFirst
      ? await runs.start(kind, folder, { ...disturbance, flags })
      : await runs.continue(kind, folder, { ...disturbance, flags });
    moments.push(killAt === undefined ? `after ${killAfter} ms` : `before operation ${killAt}`);
    if (ended.isKilled) continue;
    if (ended.status === 0) break;
    return describe(`it must run, got: ${lastLine(ended.stderr)}`);
  }
  const problem = await runs.finish(kind, folder, { flags, check });
  return problem === undefined ? undefined : describe(problem);
}

/** A moment that the run most likely reaches, however far it has come. */
function chooseKill(
  twin: Twin,
  { random, folder }: { readonly random: RandomStream; readonly folder: string },
): Pick<Disturbance, 'killAt' | 'killAfter'> {
  const after = listCheckpoints(folder).at(-1);
  const { moment } = chooseOperation(twin, { random, after });
  if (random.integer(4) > 0) return { killAt: moment };
  const longest = (after === undefined ? 1 : RESUMED) * twin.milliseconds;
  return { killAfter: Math.floor(longest * random.next()) };
}
