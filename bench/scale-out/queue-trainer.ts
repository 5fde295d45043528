import { setTimeout as wait } from 'node:timers/promises';
import { type Job, Queue } from 'bullmq';
import type { PPOConfig } from '../../src/config/ppo-config.ts';
import type { PromptRecord } from '../../src/data/index.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import { buildComponents, type PPOComponents } from '../../src/ppo-trainer/components.ts';
import { ppoStep } from '../../src/ppo-trainer/ppo-step.ts';
import {
  connectQueue,
  createClient,
  listRuns,
  listWorkers,
  type QueueClient,
  QueueJobs,
} from '../../src/queue/index.ts';
import { queueName } from '../../src/queue/protocol.ts';
import { CpuSamples } from './cpu-samples.ts';
import { type MeasuredJob, type MeasuredStep, type StageClock, summarizeStep } from './stages.ts';

interface TrainerOptions {
  readonly name: string;
  readonly url: string;
  readonly config: PPOConfig;
  readonly model: LoadedModel;
  /** Processor time of each worker. */
  readonly workerCpu: () => readonly number[];
}

/** What a trainer needs to measure its steps. */
interface Connection extends TrainerOptions {
  readonly client: QueueClient;
  readonly redis: ReturnType<typeof createClient>;
  /** The id of its run. */
  readonly run: string;
}

/** A trainer in this process whose jobs run on workers, and which measures its steps. */
export class QueueTrainer {
  private readonly connection: Connection;
  private readonly components: PPOComponents;
  private readonly queue: Queue;
  private clocks: StageClock[] = [];
  private steps = 0;

  /** Announces a run. */
  static async connect(options: TrainerOptions): Promise<QueueTrainer> {
    const { name, url, config, model } = options;
    const client = await connectQueue({
      ...{ url, config, model, folder: name, startedAt: new Date().toISOString() },
      warn: (message) => console.error(message),
    });
    const redis = createClient(url);
    const run = (await listRuns(redis)).find((record) => record.name === name)!.id;
    return new QueueTrainer({ ...options, client, redis, run });
  }

  private constructor(connection: Connection) {
    const { redis, run, config, model } = connection;
    this.connection = connection;
    this.queue = new Queue(queueName(run), { connection: redis });
    const watched: Pick<QueueClient, 'run'> = { run: (request) => this.watch(request) };
    this.components = buildComponents(config, model, {
      rewards: { last: ({ tokens }) => (tokens.at(-1)! % 10) / 10 },
      replace: (components) => ({ jobs: new QueueJobs(watched, components) }),
      warn: (message) => console.error(message),
    });
    this.components.modelTrainer.start(1000);
  }

  /** Waits until this many workers have joined the run. */
  async waitForWorkers(count: number): Promise<void> {
    for (;;) {
      const workers = await listWorkers(this.connection.redis);
      const refused = workers.find(({ state }) => state === 'refused');
      if (refused) throw new Error(`Cannot measure: a worker was refused: ${refused.message}`);
      if (workers.filter(({ run }) => run === this.connection.run).length >= count) return;
      await wait(200);
    }
  }

  /** Runs and measures one step. */
  async step(prompts: readonly PromptRecord[]): Promise<MeasuredStep> {
    const step = this.steps++;
    const { traffic } = this.connection.client.blobs;
    const before = { ...traffic };
    const workersBefore = this.connection.workerCpu();
    this.clocks = [];
    const cpu = new CpuSamples();
    const start = Date.now();
    await ppoStep(this.components, prompts, { step });
    const end = Date.now();
    cpu.stop();
    const workers = this.connection.workerCpu().map((time, i) => time - workersBefore[i]!);
    const jobs = await this.queue.getJobs(['completed']);
    return summarizeStep({
      ...{ start, end, cpu, workers, clocks: this.clocks },
      jobs: jobs.filter(({ data }) => data.step === step).map(toMeasured),
      sent: traffic.sent - before.sent,
      received: traffic.received - before.received,
    });
  }

  async close(): Promise<void> {
    await this.queue.close();
    await this.connection.client.close();
    this.connection.redis.disconnect();
  }

  /** Runs a job and notes the times of its stage. */
  private async watch(request: Parameters<QueueClient['run']>[0]): ReturnType<QueueClient['run']> {
    const { kind } = request;
    const clock = this.clocks.find((one) => one.kind === kind) ?? this.startClock(kind);
    const output = await this.connection.client.run(request);
    clock.end = Date.now();
    clock.workers = this.workerSeconds() - clock.workersStart;
    return output;
  }

  private startClock(kind: string): StageClock {
    const now = Date.now();
    const clock = { kind, start: now, end: now, workersStart: this.workerSeconds(), workers: 0 };
    this.clocks.push(clock);
    return clock;
  }

  private workerSeconds(): number {
    return this.connection.workerCpu().reduce((sum, seconds) => sum + seconds, 0);
  }
}

function toMeasured({ name, data, returnvalue, processedOn }: Job): MeasuredJob {
  const { policy, value } = data;
  return {
    ...{ kind: name, start: processedOn!, busy: returnvalue.busy / 1000 },
    ...{ input: data.input.bytes, output: returnvalue.output.bytes },
    roles: { ...(policy && { policy: policy.bytes }), ...(value && { value: value.bytes }) },
  };
}
