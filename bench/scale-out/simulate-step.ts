/** One stage of a step: jobs of one kind. The next stage starts when all of them are done. */
export interface SimulatedStage {
  readonly jobs: number;
  /** A worker's seconds per job. */
  readonly seconds: number;
  /** Bytes that a worker reads and writes per job. */
  readonly input: number;
  readonly output: number;
  /** Bytes of the weights that the jobs need, by role. A worker reads them once per step. */
  readonly roles: Readonly<Record<string, number>>;
  /** The trainer's seconds per job: before any job of the stage starts, and for each result. */
  readonly send: number;
  readonly receive: number;
}

export interface SimulatedStep {
  readonly stages: readonly SimulatedStage[];
  /** The trainer's seconds outside of all stages, such as for the optimiser. */
  readonly rest: number;
}

/** The workers of a simulated step and the network of its Redis machine. */
export interface SimulatedCluster {
  readonly workers: number;
  /** Bytes per second of the one link of the Redis machine, in each direction. */
  readonly bandwidth: number;
}

/** Something that serves one request at a time, in the order of arrival. */
class Line {
  private free = 0;

  /** Returns when a request of this length is done. */
  take(at: number, seconds: number): number {
    this.free = Math.max(this.free, at) + seconds;
    return this.free;
  }
}

interface SimulatedWorker {
  /** Roles whose weights it has. */
  readonly roles: Set<string>;
}

/** Events in the order of their times; those of one time in the order of their arrival. */
class Agenda {
  private readonly events: { readonly at: number; readonly run: (at: number) => void }[] = [];

  add(at: number, run: (at: number) => void): void {
    const place = this.events.findIndex((event) => event.at > at);
    this.events.splice(place < 0 ? this.events.length : place, 0, { at, run });
  }

  runAll(): void {
    for (let next = this.events.shift(); next !== undefined; next = this.events.shift()) {
      next.run(next.at);
    }
  }
}

/**
 * Seconds of one PPO step on a number of workers. The trainer encodes the jobs of a stage and sends
 * weights and inputs to Redis; the first free worker takes the next job, reads the weights it does not
 * have yet and the input, computes, and writes the output, which the trainer reads and adds up. All
 * transfers share the link of the Redis machine, in each direction one after another. A worker does one
 * thing at a time.
 * @example 3 jobs of 1 s on 2 workers without bytes  →  2
 */
export function simulateStep({ stages, rest }: SimulatedStep, cluster: SimulatedCluster): number {
  const workers = Array.from({ length: cluster.workers }, () => ({ roles: new Set<string>() }));
  const sent = new Set<string>();
  let now = 0;
  for (const stage of stages)
    now = simulateStage(stage, { ...cluster, start: now, crew: workers, sent });
  return now + rest;
}

interface StageContext extends SimulatedCluster {
  readonly start: number;
  readonly crew: readonly SimulatedWorker[];
  /** Roles whose weights are in Redis. */
  readonly sent: Set<string>;
}

/** Returns when the trainer has all results. */
function simulateStage(
  stage: SimulatedStage,
  { start, crew, bandwidth, sent }: StageContext,
): number {
  const { jobs, seconds, input, output, roles } = stage;
  const [toRedis, fromRedis, trainer, agenda] = [new Line(), new Line(), new Line(), new Agenda()];
  const encoded = start + jobs * stage.send;
  const newRoles = Object.keys(roles).filter((role) => !sent.has(role));
  const weights = newRoles.reduce((sum, role) => sum + roles[role]!, 0);
  toRedis.take(encoded, weights / bandwidth);
  for (const role of newRoles) sent.add(role);
  const waiting: SimulatedWorker[] = [];
  let ready = 0;
  let end = encoded;
  const work = (at: number) => {
    const worker = waiting.shift()!;
    ready--;
    const missing = Object.keys(roles).filter((role) => !worker.roles.has(role));
    for (const role of missing) worker.roles.add(role);
    const bytes = input + missing.reduce((sum, role) => sum + roles[role]!, 0);
    agenda.add(fromRedis.take(at, bytes / bandwidth) + seconds, (computed) => {
      agenda.add(toRedis.take(computed, output / bandwidth), (written) => {
        const read = fromRedis.take(written, output / bandwidth);
        end = Math.max(end, trainer.take(read, stage.receive));
        rest(written, worker);
      });
    });
  };
  const rest = (at: number, worker: SimulatedWorker) => {
    waiting.push(worker);
    if (ready > 0) work(at);
  };
  for (const worker of crew) agenda.add(start, (at) => rest(at, worker));
  for (let job = 0; job < jobs; job++) {
    agenda.add(toRedis.take(encoded, input / bandwidth), (at) => {
      ready++;
      if (waiting.length > 0) work(at);
    });
  }
  agenda.runAll();
  return end;
}
