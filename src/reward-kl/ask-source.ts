import { checkScores } from './check-scores.ts';
import { messageOf, RewardError } from './reward-error.ts';
import type { RewardSample, RewardSource, Score } from './reward-source.ts';

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Milliseconds without a new score after which a source without a limit of its own has hung. */
  readonly timeout: number;
}

/** The checked scores of one source. A throw, a hang and a wrong answer become one sentence that
 *  names the source; in all of these the source's signal fires. */
export async function askSource(
  source: RewardSource,
  samples: readonly RewardSample[],
  { signal, timeout }: AskOptions,
): Promise<readonly Score[]> {
  signal.throwIfAborted();
  const own = new AbortController();
  const waiting = new Set(samples.keys());
  const limit = source.timeout ?? timeout;
  const clock = startClock(limit, () => own.abort(describeHang(source, { limit, waiting })));
  const onScored = (index: number) => {
    waiting.delete(index);
    clock.restart();
  };
  const context = { signal: AbortSignal.any([signal, own.signal]), onScored };
  try {
    const scoring = (async () => source.score(samples, context))();
    const answer = await Promise.race([scoring, rejectOnAbort(context.signal)]);
    return checkScores(answer, { name: source.name, samples });
  } catch (cause) {
    own.abort(cause);
    if (signal.aborted || cause instanceof RewardError) throw cause;
    throw new RewardError(`Cannot score with "${source.name}": ${messageOf(cause)}`, { cause });
  } finally {
    clock.stop();
  }
}

/** Calls back once nothing has restarted it for so many milliseconds. */
function startClock(limit: number, onSilence: () => void) {
  let timer: NodeJS.Timeout | undefined;
  const stop = () => clearTimeout(timer);
  const restart = () => {
    stop();
    // A timer cannot wait for ever: it takes Infinity for 1 ms.
    if (Number.isFinite(limit)) timer = setTimeout(onSilence, limit);
  };
  restart();
  return { restart, stop };
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

function describeHang(
  { name }: RewardSource,
  { limit, waiting }: { limit: number; waiting: ReadonlySet<number> },
): RewardError {
  const [first] = waiting;
  const got =
    first === undefined
      ? 'no end after the last score'
      : `none for ${waiting.size === 1 ? `sample ${first}` : `${waiting.size} samples, the first is ${first}`}`;
  return new RewardError(
    `Cannot score with "${name}": it must give a score within ${limit} ms, got ${got}; raise rewardTimeout if it needs longer`,
  );
}
