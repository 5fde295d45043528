import { randomStream } from '../../src/engine/random/index.ts';
import type { Arena, Attack } from './arena.ts';
import { chooseOperation, lastLine, type Runs } from './runs.ts';

/** Kills of one run, at most. */
const MAX_KILLS = 3;

/** Kills a run with SIGKILL several times, resumes it each time, and lets it finish. Most kills
 *  are before an operation on the run's folder, which is exactly reproducible, the others at a time. */
export function kills(arena: Arena, runs: Runs): Attack {
  return {
    ...{ name: 'kill', weight: 3 },
    async attack(seed) {
      const random = randomStream('kill', seed);
      const kind = runs.kindOf(seed);
      const twin = await runs.twin(kind);
      const folder = arena.newPath('killed');
      const moments: string[] = [];
      const fail = (problem: string) =>
        arena.fail(`kill/${seed}`, `${kind.name}, killed ${moments.join(', ')}: ${problem}`);
      for (let left = 1 + random.integer(MAX_KILLS); left > 0; left--) {
        const killAt = chooseOperation(twin, random).moment;
        const killAfter = Math.floor(random.next() * twin.milliseconds);
        const isByTime = random.integer(4) === 0;
        const disturbance = isByTime ? { killAfter } : { killAt };
        const isFirst = moments.length === 0;
        const ended = isFirst
          ? await runs.start(kind, folder, disturbance)
          : await runs.continue(kind, folder, disturbance);
        moments.push(isByTime ? `after ${killAfter} ms` : `before operation ${killAt}`);
        if (ended.isKilled) arena.counts.kills++;
        else if (ended.status !== 0) return fail(`it must run, got: ${lastLine(ended.stderr)}`);
        else break;
      }
      const problem = await runs.finish(kind, folder);
      if (problem !== undefined) fail(problem);
    },
  };
}
