import { join } from 'node:path';
import { appendJsonLines } from '../fs/index.ts';
import {
  type HumanRequest,
  type HumanScore,
  humanScoreSchema,
  locateHumanFiles,
  readRequestLines,
  readScoreLines,
} from '../reward-kl/index.ts';
import { explainSystemError } from './system-error.ts';

/** A response that a run asked people to score. */
export interface AskedRequest extends HumanRequest {
  /** Whether its score still counts; it also does where the run's process is gone. */
  readonly isWaiting: boolean;
}

/** Where a run's live human scores and its requests for them lie. */
export function humanFolder(run: string): string {
  return join(run, 'human');
}

/** All that a run has asked people to score, in the order of asking; each once. */
export async function readHumanRequests(run: string): Promise<AskedRequest[]> {
  const { requests } = locateHumanFiles(humanFolder(run));
  const asked = new Map<string, AskedRequest>();
  const { records } = await readRequestLines(requests).read();
  for (const record of records) {
    if ('id' in record) asked.set(record.id, { ...record, isWaiting: true });
    else for (const id of record.closed) close(asked, id);
  }
  return [...asked.values()];
}

/** All that people gave, in order; a score of null takes back what the same person gave before. */
export async function readHumanScores(run: string): Promise<readonly HumanScore[]> {
  const { scores } = locateHumanFiles(humanFolder(run));
  return (await readScoreLines(scores).read()).records;
}

/** Writes down what a person gives a response that its run waits for. A later score of the same
 *  person replaces the earlier, and null takes it back.
 *  @example await appendHumanScore('runs/a', { request: 'f81d…', score: 0.5, labeller: 'Ada' }); */
export async function appendHumanScore(
  run: string,
  given: Omit<HumanScore, 'time'>,
): Promise<void> {
  const { request } = given;
  const parsed = humanScoreSchema.safeParse({ ...given, time: new Date().toISOString() });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TypeError(
      `Cannot score ${request}: ${issue!.path.join('.')} must be right (${issue!.message}); give { request, score, labeller }`,
    );
  }
  const asked = (await readHumanRequests(run)).find(({ id }) => id === request);
  if (!asked?.isWaiting) {
    const got = asked === undefined ? 'one it never asked for' : 'one whose scores it has taken';
    throw new Error(`Cannot score ${request}: the run must wait for it, got ${got}`);
  }
  const { scores } = locateHumanFiles(humanFolder(run));
  try {
    appendJsonLines(scores, [parsed.data]);
  } catch (error) {
    throw explainSystemError(error, { action: `write ${scores}`, next: 'score again' });
  }
}

function close(asked: Map<string, AskedRequest>, id: string): void {
  const request = asked.get(id);
  if (request !== undefined) asked.set(id, { ...request, isWaiting: false });
}
