import { join } from 'node:path';
import { appendJsonLines, explainSystemError } from '../fs/index.ts';
import {
  type HumanRequest,
  type HumanScore,
  humanScoreSchema,
  locateHumanFiles,
  readRequestLines,
  readScoreLines,
} from '../reward-kl/index.ts';

/** A response that a run asks people to score. */
export interface AskedRequest extends HumanRequest {
  /** Whether its score still counts; also true if the run's process is gone. */
  readonly isWaiting: boolean;
}

/** The folder of a run's live human scores and its requests for them. */
export function humanFolder(run: string): string {
  return join(run, 'human');
}

/** Everything that a run has asked people to score, in order, each once. */
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

/** All scores by people, in order. A score of null withdraws the earlier one by the same person. */
export async function readHumanScores(run: string): Promise<readonly HumanScore[]> {
  const { scores } = locateHumanFiles(humanFolder(run));
  return (await readScoreLines(scores).read()).records;
}

/** Records a person's score for a response that a run is waiting for. A later score by the same person
 *  replaces the earlier one; null withdraws it.
 *  @example await appendHumanScore('runs/a', { request: 'f81d…', score: 0.5, labeller: 'Ada' }); */
export async function appendHumanScore(
  run: string,
  input: Omit<HumanScore, 'time'>,
): Promise<void> {
  const { request } = input;
  const parsed = humanScoreSchema.safeParse({ ...input, time: new Date().toISOString() });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new TypeError(
      `Cannot score ${request}: ${issue!.path.join('.')} is invalid (${issue!.message}); pass { request, score, labeller }`,
    );
  }
  const asked = (await readHumanRequests(run)).find(({ id }) => id === request);
  if (!asked?.isWaiting) {
    const got = asked === undefined ? 'a request it never made' : 'a request it has closed';
    throw new Error(`Cannot score ${request}: the run must be waiting for it, got ${got}`);
  }
  const { scores } = locateHumanFiles(humanFolder(run));
  try {
    appendJsonLines(scores, [parsed.data]);
  } catch (error) {
    throw explainSystemError(error, { action: 'save the score', next: 'score again' });
  }
}

function close(asked: Map<string, AskedRequest>, id: string): void {
  const request = asked.get(id);
  if (request !== undefined) asked.set(id, { ...request, isWaiting: false });
}
