import { type Command, InvalidArgumentError } from 'commander';
import { writeReport } from '../dashboard/report/write-report.ts';
import { count } from '../run/run-data.ts';
import { formatBytes } from './format.ts';
import { expectRun } from './runs.ts';
import { stripControls } from './terminal.ts';

const about = `Write a run as one HTML file with its charts, samples and tokens. The file needs no network and no server, so you can send it to others. It contains only the last part of each path.`;

interface ReportFlags {
  readonly output?: string;
  readonly samples: number;
}

/** `proximal report`: a run in one HTML file. */
export function addReport(command: Command): void {
  command
    .description(about)
    .argument('<run>', "The run's folder")
    .option('--output <file>', 'The file; <name of the run>-report.html by default')
    .option('--samples <number>', 'Most samples to include, with their tokens', parseCount, 100)
    .action(createReport);
}

async function createReport(folder: string, { output, samples }: ReportFlags): Promise<void> {
  const run = await expectRun(folder, 'write a report of');
  const path = output ?? `${run.name}-report.html`;
  const report = await writeReport(run, { path, samples });
  const size = `${formatBytes(report.bytes)}, ${count(report.samples, 'sample')}`;
  process.stdout.write(`${stripControls(path)}  ${size}\n`);
}

function parseCount(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number ≥ 0.');
}
