import { type Command, InvalidArgumentError } from 'commander';

const about = `Write a run as one HTML file with its charts, samples and tokens. It needs no network and no server, so that it can be sent to others; of paths in it only the last names stay.`;

interface ReportFlags {
  readonly output?: string;
  readonly samples: number;
}

/** `proximal report`: a run in one file. */
export function addReport(program: Command): void {
  program
    .command('report')
    .summary('Write a run as one HTML file to share')
    .description(about)
    .argument('<run>', "The run's folder")
    .option('--output <file>', 'The file; <name of the run>-report.html if not given')
    .option('--samples <number>', 'Samples in it at most, with their tokens', readCount, 100)
    .action(makeReport);
}

async function makeReport(folder: string, { output, samples }: ReportFlags): Promise<void> {
  const { expectRun } = await import('./runs/expect-run.ts');
  const { writeReport } = await import('../dashboard/report/write-report.ts');
  const { stripControls } = await import('./strip-controls.ts');
  const { formatBytes } = await import('./units.ts');
  const run = await expectRun(folder, 'make a report of');
  const path = output ?? `${run.name}-report.html`;
  const report = await writeReport(run, { path, samples });
  const count = `${report.samples} ${report.samples === 1 ? 'sample' : 'samples'}`;
  process.stdout.write(`${stripControls(path)}  ${formatBytes(report.bytes)}, ${count}\n`);
}

function readCount(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number ≥ 0.');
}
