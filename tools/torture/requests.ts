import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { randomStream } from '../../src/engine/random/index.ts';
import type { Arena, Attack } from './arena.ts';
import type { DashboardReport } from './dashboard-process.ts';
import { type HostileRequest, hostileRequest, plainRequest } from './hostile-requests.ts';
import { Pool } from './pool.ts';
import type { RunKind } from './run-kinds.ts';
import type { Runs } from './runs.ts';
import { startDashboardProcess } from './start-dashboard-process.ts';

/** Requests of one case. */
const REQUESTS = 200;
/** Requests at the same time. */
const CONCURRENT = 8;
/** Milliseconds until an answer must be complete. */
const TIMEOUT = 10_000;
/** Milliseconds of an event stream that are read. */
const STREAM = 200;

/** Sends hostile requests to a dashboard that shows a real run. */
export function requests(
  arena: Arena,
  { runs, kind }: { readonly runs: Runs; readonly kind: RunKind },
): Attack {
  const dashboards = new Pool(async () =>
    HostedDashboard.start(arena, (await runs.twin(kind)).folder),
  );
  return {
    ...{ name: 'request', perHour: 40 },
    attack: (seed) =>
      dashboards.use(async (target) => {
        const random = randomStream('requests', seed);
        const fail = (problem: string) => {
          // The same answer to other requests has the same cause.
          const kindOfProblem = problem.replace(/ for ".*"/s, '');
          arena.fail(`request/${seed}`, problem, kindOfProblem);
        };
        for (let sent = 0; sent < REQUESTS; sent += CONCURRENT) {
          const batch = Array.from({ length: CONCURRENT }, () => hostileRequest(random, target));
          const problems = await Promise.all(batch.map((request) => target.attack(request)));
          arena.counts.requests += batch.length;
          for (const problem of problems) if (problem !== undefined) fail(problem);
        }
        const problem = await target.findDamage();
        for (const text of [...target.takeErrors(), ...(problem ?? [])]) fail(text);
        return problem === undefined;
      }),
  };
}

/** A dashboard in its own process. Files next to its runs and its page contain a secret word. */
class HostedDashboard {
  readonly port: number;
  /** Id of the run that it shows. */
  runId = '';
  private readonly child: ChildProcess;
  private readonly secret: string;
  private readonly errors: string[] = [];

  static async start(arena: Arena, run: string): Promise<HostedDashboard> {
    const folder = arena.newFolder('dashboard');
    const secret = randomBytes(12).toString('hex');
    const at = (name: string) => join(folder, name);
    const [runs, page, labels] = [at('runs'), at('page'), at('labels')];
    for (const path of [runs, page, labels]) mkdirSync(path);
    cpSync(run, join(folder, 'runs/a'), { recursive: true });
    for (const place of [folder, arena.folder]) {
      const row = { prompt: secret, responses: ['a', 'b'] };
      writeFileSync(join(place, 'secret.jsonl'), JSON.stringify(row));
      writeFileSync(join(place, 'secret.txt'), secret);
    }
    writeFileSync(join(folder, 'page/index.html'), '<!doctype html><title>Proximal</title>');
    writeFileSync(join(folder, 'page/page.js'), ';');
    const { child, port } = await startDashboardProcess(arena, { runs, page, labels });
    const dashboard = new HostedDashboard(child, { port, secret });
    const [first] = JSON.parse((await dashboard.send(plainRequest('/api/runs'))).body);
    dashboard.runId = first.id;
    return dashboard;
  }

  private constructor(child: ChildProcess, { port, secret }: { port: number; secret: string }) {
    this.child = child;
    this.port = port;
    this.secret = secret;
    child.on('message', (report: DashboardReport) => {
      // Clients that leave in the middle of a body cause this one.
      const isExpected = 'port' in report || report.error === 'Error: aborted';
      if (!isExpected) this.errors.push(`its internal error: ${report.error}`);
    });
  }

  /** Sends a request.
   *  @returns what is wrong with the answer; undefined if nothing is */
  async attack({ bytes, isComplete }: HostileRequest): Promise<string | undefined> {
    const { status, body, isTimeout } = await this.send(bytes, { isComplete });
    const start = JSON.stringify(bytes.toString('latin1').slice(0, 250));
    if (isTimeout) return `an answer must come within ${TIMEOUT / 1000} s, got none for ${start}`;
    if (status >= 500) return `a status must be below 500, got ${status} ${body} for ${start}`;
    if (body.includes(this.secret))
      return `no file outside of runs may be served, got one for ${start}`;
    if (body.includes('root:x:')) return `no system file may be served, got one for ${start}`;
    return undefined;
  }

  /** Errors since the last call. */
  takeErrors(): string[] {
    return this.errors.splice(0);
  }

  /** What is wrong if it no longer answers as before. */
  async findDamage(): Promise<readonly string[] | undefined> {
    const { exitCode, signalCode } = this.child;
    if (exitCode !== null || signalCode !== null) {
      return [`the dashboard must survive, got its end by ${signalCode ?? exitCode}`];
    }
    const { status, body } = await this.send(plainRequest('/api/runs'));
    const isSame = status === 200 && body.includes(this.runId);
    return isSame ? undefined : [`the list of runs must be answered, got ${status}: ${body}`];
  }

  private send(bytes: Buffer, { isComplete = true } = {}): Promise<Answer> {
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      const socket = connect(this.port, '127.0.0.1');
      const isStream = bytes.includes('/api/events');
      const end = (isTimeout: boolean) => {
        clearTimeout(timer);
        socket.destroy();
        resolve({ ...parseAnswer(Buffer.concat(chunks)), isTimeout });
      };
      // Clients that stop in the middle do not wait for an answer.
      const isAnswered = isComplete && !isStream;
      const timer = setTimeout(() => end(isAnswered), isAnswered ? TIMEOUT : STREAM);
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('error', () => end(false));
      socket.on('close', () => end(false));
      socket.write(bytes);
    });
  }
}

interface Answer {
  /** 0 if the connection was closed without an answer. */
  readonly status: number;
  readonly body: string;
  readonly isTimeout: boolean;
}

function parseAnswer(bytes: Buffer): Omit<Answer, 'isTimeout'> {
  const text = bytes.toString('utf8');
  const [, status = '0'] = /^HTTP\/1\.1 (\d{3})/.exec(text) ?? [];
  const body = text.slice(text.indexOf('\r\n\r\n') + 4);
  // The lines of a chunked body are lengths and parts in turn.
  const isChunked = /\r\ntransfer-encoding: chunked/i.test(text);
  const parts = isChunked ? body.split('\r\n').filter((_, i) => i % 2 === 1) : [body];
  return { status: Number(status), body: parts.join('') };
}
