import type { Command } from 'commander';
import { QueueWorker } from '../queue/index.ts';
import { untilInterrupted } from './exit.ts';
import { outliveOutput } from './output-errors.ts';
import { queueOption, readQueue } from './queue-option.ts';
import { parseCount } from './schema-options.ts';

const about = `Run jobs of training runs on this machine: a run that was started with "proximal train --queue" sends them.

The worker waits for runs, loads their base once and leaves when it is stopped. Ctrl-C, SIGTERM or a closed terminal completes the current job first; a second Ctrl-C or SIGTERM stops immediately, and another worker repeats the job.
Workers compute the same bits as the trainer only with the same version, ONNX Runtime, instruction set and number of threads; others are refused.`;

interface WorkerFlags {
  readonly queue?: string;
  readonly model?: string;
  readonly threads?: number;
  readonly allowMixed?: boolean;
}

/** `proximal worker`: runs jobs that trainers send through Redis. */
export function addWorker(command: Command): void {
  command
    .description(about)
    .addOption(queueOption())
    .option(
      '--model <folder>',
      "The base on this machine: a folder or a hub id; default: the run's",
    )
    .option(
      '--threads <number>',
      "Threads inside one operation; default: the trainer's number",
      parseCount,
    )
    .option('--allow-mixed', 'Work although results may differ in their last bits')
    .action(work);
}

async function work({ queue, ...flags }: WorkerFlags): Promise<void> {
  outliveOutput();
  const worker = await QueueWorker.connect({
    ...flags,
    url: readQueue(queue),
    onMessage: (message) => void process.stdout.write(`${timeOfDay()} ${message}\n`),
  });
  await untilInterrupted(async (signal) => {
    signal.addEventListener('abort', () => worker.drain());
    if (signal.aborted) worker.drain();
    await worker.work();
  });
}

/** @example '14:05:09' */
function timeOfDay(): string {
  return new Date().toTimeString().slice(0, 8);
}
