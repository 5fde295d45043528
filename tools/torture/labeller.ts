import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { LabelAnswer, LabelQueue, LabelTask } from '../../src/dashboard/api.ts';
import { liveQueueId } from '../../src/dashboard/labels/live-queue.ts';
import { findRuns } from '../../src/dashboard/server/runs/find-runs.ts';
import { readHumanScores } from '../../src/run/human-scores.ts';
import type { Arena } from './arena.ts';
import { startDashboardProcess } from './start-dashboard-process.ts';

/** Milliseconds between two looks at the Label page. */
const POLL = 100;
const labeller = 'Ada';

/** A person who rates every response that a run waits for, through the interface of a real dashboard. The
 *  rating of a text is always the same. */
export class Labeller {
  /** Folder of the runs that the dashboard shows. */
  readonly folder: string;
  private readonly arena: Arena;
  private readonly page: string;
  private readonly labels: string;
  /** Scores that the dashboard confirmed, by queue and request. */
  private readonly confirmed = new Map<string, Map<string, number>>();
  private dashboard: ReturnType<typeof startDashboardProcess> | undefined;
  private isClosed = false;

  constructor(arena: Arena) {
    this.arena = arena;
    this.folder = arena.newFolder('people');
    this.page = arena.newFolder('people-page');
    this.labels = arena.newFolder('people-labels');
    writeFileSync(join(this.page, 'index.html'), '<!doctype html><title>Proximal</title>');
    arena.onClose(() => {
      this.isClosed = true;
    });
  }

  /** Starts to work, unless it already does. */
  start(): void {
    if (this.dashboard !== undefined) return;
    this.dashboard = this.startDashboard();
    void this.work();
  }

  /** Kills the dashboard with SIGKILL and starts another. */
  async killDashboard(): Promise<void> {
    const { child } = await this.dashboard!;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    this.arena.counts.kills++;
    this.dashboard = ended.then(() => this.startDashboard());
    await this.dashboard;
  }

  /** What is wrong with the scores of a run: every confirmed one must be there, and none twice. */
  async findLoss(run: string): Promise<string | undefined> {
    const [found] = await findRuns([run]);
    const scores = await readHumanScores(run);
    const ids = scores.map(({ request }) => request);
    const doubled = ids.find((id, i) => ids.indexOf(id) !== i);
    if (doubled !== undefined) return `each score must be written once, got ${doubled} twice`;
    const rows = new Map(scores.map(({ request, score }) => [request, score]));
    const confirmed = this.confirmed.get(liveQueueId(found!)) ?? [];
    const lost = [...confirmed].find(([request, score]) => rows.get(request) !== score);
    if (lost === undefined) return undefined;
    const [request, score] = lost;
    return `confirmed scores must be kept, got ${rows.get(request)} instead of ${score} for ${request}`;
  }

  private startDashboard(): ReturnType<typeof startDashboardProcess> {
    const { folder: runs, page, labels } = this;
    return startDashboardProcess(this.arena, { runs, page, labels });
  }

  private async work(): Promise<void> {
    while (!this.isClosed) {
      // A dashboard that was killed answers again soon.
      await this.rateAll().catch(() => undefined);
      await setTimeout(POLL);
    }
  }

  private async rateAll(): Promise<void> {
    const { port } = await this.dashboard!;
    const url = `http://127.0.0.1:${port}/api/labels`;
    const queues = (await (await fetch(url)).json()) as readonly LabelQueue[];
    for (const { id, total, answered } of queues) {
      for (let left = total - answered; left > 0; left--) {
        const next = await fetch(`${url}/${id}/next?labeller=${labeller}`);
        if (next.status !== 200) break;
        await this.rate(`${url}/${id}`, { id, task: (await next.json()) as LabelTask });
      }
    }
  }

  private async rate(
    url: string,
    { id, task }: { readonly id: string; readonly task: LabelTask },
  ): Promise<void> {
    const rating = rate(task.responses[0]!);
    const answer: LabelAnswer = { task: task.id, labeller, answer: { kind: 'rating', rating } };
    const { ok } = await fetch(`${url}/answers`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(answer),
    });
    if (!ok) return;
    const confirmed = this.confirmed.get(id) ?? new Map<string, number>();
    this.confirmed.set(id, confirmed.set(task.id, (rating - 3) / 2));
  }
}

/** A rating from 1 to 5 that depends on the text alone. */
function rate(text: string): number {
  return 1 + (createHash('sha256').update(text).digest()[0]! % 5);
}
