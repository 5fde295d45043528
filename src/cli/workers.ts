import type { Command } from 'commander';
import {
  checkRedis,
  createClient,
  listRuns,
  listWorkers,
  type RunRecord,
  type WorkerRecord,
} from '../queue/index.ts';
import { formatBytes, formatSeconds } from './format.ts';
import { queueOption, readQueue } from './queue-option.ts';
import { formatTable } from './table.ts';
import { bold, lineWidth, type Output } from './terminal.ts';

const about = `List the workers that are connected to a queue and the runs that they work for: state, jobs, bytes moved, failures and efficiency (the share of their time that they worked).`;

interface WorkersFlags {
  readonly queue?: string;
  readonly json?: boolean;
}

/** `proximal workers`: who is connected to a queue. */
export function addWorkers(command: Command): void {
  command
    .description(about)
    .addOption(queueOption())
    .option('--json', 'Print one JSON object')
    .action(async ({ queue, json }: WorkersFlags) => {
      const url = readQueue(queue);
      await checkRedis(url);
      const redis = createClient(url);
      const [runs, workers] = await Promise.all([listRuns(redis), listWorkers(redis)]);
      redis.disconnect();
      const text = json
        ? JSON.stringify({ runs, workers })
        : formatWorkers({ runs, workers }, process.stdout);
      process.stdout.write(`${text}\n`);
    });
}

/** Runs and workers as two tables. */
export function formatWorkers(
  {
    runs,
    workers,
  }: { readonly runs: readonly RunRecord[]; readonly workers: readonly WorkerRecord[] },
  output: Output,
): string {
  const runRows = runs.map(({ name, host, step, stage, done, total }) => [
    ...[name, host, String(step + 1)],
    total === 0 ? stage : `${stage} ${done}/${total}`,
  ]);
  const workerRows = workers.map((worker) => [
    ...[`${worker.host}:${worker.pid}`, runs.find(({ id }) => id === worker.run)?.name ?? ''],
    ...[String(worker.jobs), String(worker.failed)],
    worker.wall === 0 ? '' : ((1000 * worker.jobs) / worker.wall).toFixed(2),
    `${formatBytes(worker.received)} / ${formatBytes(worker.sent)}`,
    worker.run === undefined ? '' : `${Math.round((100 * worker.busy) / worker.wall)}%`,
    formatSeconds((Date.now() - Date.parse(worker.since)) / 1000),
    worker.message === undefined ? worker.state : `${worker.state}: ${worker.message}`,
  ]);
  const width = lineWidth(output);
  const runHeader = ['Run', 'Host', 'Step', 'Stage'];
  const header = [
    'Worker',
    'Run',
    'Jobs',
    'Failed',
    'Jobs/s',
    'In / out',
    'Busy',
    'Connected',
    'State',
  ];
  return [
    runs.length === 0
      ? 'No run sends jobs'
      : formatTable([runHeader, ...runRows], 'llrl', { width }),
    workers.length === 0
      ? 'No worker is connected'
      : formatTable([header, ...workerRows], 'llrrrrrrl', { width }),
  ]
    .map((part, i) => `${bold(['Runs', 'Workers'][i]!, output)}\n${part}`)
    .join('\n\n');
}
