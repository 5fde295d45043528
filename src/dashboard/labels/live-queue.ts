import { existsSync } from 'node:fs';
import { locateHumanFiles } from '../../reward-kl/index.ts';
import {
  type AskedRequest,
  appendHumanScore,
  humanFolder,
  readHumanRequests,
  readHumanScores,
} from '../../run/human-scores.ts';
import type { LabelAnswer, LabelTask } from '../api.ts';
import { AnswerBook } from './answer-log.ts';
import type { LabelRun } from './create/response-groups.ts';
import { questions } from './next-steps.ts';
import { exportRow, type StoredTask } from './queue-schema.ts';
import { type Queue, type QueueProgress, QueueState, type WriteSequence } from './queue-state.ts';

/** The id of a run's live queue. */
export function liveQueueId(run: LabelRun): string {
  return `live-${run.id}`;
}

/** Whether a run has ever asked people for scores. */
export function asksPeople(run: LabelRun): boolean {
  return existsSync(locateHumanFiles(humanFolder(run.folder)).requests);
}

/** The responses that a run waits to have scored: people rate them, and the rating becomes the score.
 *  score = (rating − 3)/2
 *  @example ratings 1, 3, 4, 5  →  scores −1, 0, ½, 1 */
export class LiveQueue implements Queue {
  private readonly run: LabelRun;
  private readonly writes: WriteSequence;

  /** @param writes the same for all queues of a run */
  constructor(run: LabelRun, writes: WriteSequence) {
    this.run = run;
    this.writes = writes;
  }

  async progress(): Promise<QueueProgress> {
    const { id: run, name } = this.run;
    return {
      ...(await this.state()).progress(),
      ...{ name: `Scores for ${name}`, question: questions.rating, live: true, run, next: [] },
    };
  }

  async next(labeller: string): Promise<LabelTask | undefined> {
    return (await this.state()).next(labeller);
  }

  answer(given: LabelAnswer): Promise<void> {
    return this.writes.run(async () => {
      const stored = (await this.state()).convert(given);
      if (stored === undefined) return;
      const { choice } = stored;
      const { task: request, labeller, note } = given;
      const score = choice.kind === 'rating' ? (choice.rating - 3) / 2 : null;
      await appendHumanScore(this.run.folder, {
        ...{ request, score, labeller },
        ...(note !== undefined && note !== '' && { note }),
      });
    });
  }

  undo(labeller: string): Promise<LabelTask> {
    return this.writes.run(async () => {
      const task = (await this.state()).last(labeller);
      await appendHumanScore(this.run.folder, { request: task.id, score: null, labeller });
      return task;
    });
  }

  /** Includes responses whose scores the run has already used. */
  async export(): Promise<readonly object[]> {
    const book = await this.readBook();
    const tasks = (await readHumanRequests(this.run.folder)).map(toTask);
    return tasks.flatMap((task) =>
      [...book.answersTo(task.id).values()].flatMap(({ answer }) => exportRow(task, answer) ?? []),
    );
  }

  private async state(): Promise<QueueState> {
    const requests = await readHumanRequests(this.run.folder);
    const tasks = requests.filter(({ isWaiting }) => isWaiting).map(toTask);
    const book = await this.readBook();
    return new QueueState({ id: liveQueueId(this.run), kind: 'rating', tasks, book });
  }

  private async readBook(): Promise<AnswerBook> {
    const book = new AnswerBook();
    for (const { request, score, ...rest } of await readHumanScores(this.run.folder)) {
      const answer = { kind: 'rating', rating: toRating(score ?? 0) } as const;
      const isUndo = score === null;
      const row = isUndo ? { undo: request } : { task: request, answer, order: [0] };
      book.apply({ ...row, ...rest });
    }
    return book;
  }
}

function toTask({ id, prompt, response, step = 0 }: AskedRequest): StoredTask {
  return { id, prompt, responses: [{ text: response, from: { step } }] };
}

/** The rating nearest to a score, which may have another origin.
 *  @example ½  →  4;  7  →  5 */
function toRating(score: number): number {
  return Math.min(5, Math.max(1, Math.round(2 * score + 3)));
}
