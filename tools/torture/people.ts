import { randomStream } from '../../src/engine/random/index.ts';
import type { Arena, Attack } from './arena.ts';
import { killAndFinish } from './kills.ts';
import type { Labeller } from './labeller.ts';
import type { RunKind } from './run-kinds.ts';
import type { Runs } from './runs.ts';

/** Kills of one run, at most. */
const MAX_KILLS = 8;
/** Milliseconds within which the dashboard is killed. */
const DASHBOARD_KILL = 5000;

/** What the attack needs. */
interface PeopleSetup {
  readonly runs: Runs;
  readonly kind: RunKind;
  readonly labeller: Labeller;
}

/** Kills a run while a person scores its responses, and in half of the cases the person's dashboard too. */
export function people(arena: Arena, { runs, kind, labeller }: PeopleSetup): Attack {
  return {
    ...{ name: 'people', perHour: 25 },
    async attack(seed) {
      labeller.start();
      await runs.twin(kind);
      const random = randomStream('people', seed);
      const killsDashboard = random.integer(2) === 0;
      const timer = setTimeout(
        () => killsDashboard && labeller.killDashboard(),
        random.integer(DASHBOARD_KILL),
      );
      const check = (folder: string) => labeller.findLoss(folder);
      const problem = await killAndFinish(runs, { kind, random, most: MAX_KILLS, check });
      clearTimeout(timer);
      if (problem !== undefined) arena.fail(`people/${seed}`, problem);
    },
  };
}
