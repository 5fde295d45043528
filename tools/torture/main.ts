import { parseArgs } from 'node:util';
import { type TortureOptions, type TortureReport, torture } from './torture.ts';

const help = `npm run torture -- [--minutes N] [--seed S] [--only ATTACK,…] [--json]
npm run torture -- --case ATTACK/SEED [--json]

Attacks runs, readers and the dashboard for N minutes: kill, power-cut, full-disk, mutation, request.
Exits with 1 if anything failed, and prints a command that repeats each failure.
`;

function readFlags(args: string[]): TortureOptions & { readonly json: boolean } {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      case: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    process.exit();
  }
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) {
    throw new TypeError(
      `Cannot use --minutes: it must be a number above 0, got "${values.minutes}"`,
    );
  }
  const { seed, json, only, case: single } = values;
  return { seconds: 60 * minutes, seed, json, only: only?.split(','), case: single };
}

function format({ failures, ...counts }: TortureReport): string {
  const numbers = Object.entries(counts).map(
    ([name, count]) => `${count} ${name.replace('_', ' ')}`,
  );
  const problems = failures.map(
    ({ message, command, times }) =>
      `\n${message}${times > 1 ? ` (${times} times)` : ''}\n  ${command}`,
  );
  return [`${numbers.join(', ')}; ${failures.length} failures`, ...problems].join('\n');
}

const controller = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => controller.abort());
}
const { json, ...options } = readFlags(process.argv.slice(2));
const start = performance.now();
const onProgress: TortureOptions['onProgress'] = (counts, failures) => {
  const seconds = Math.round((performance.now() - start) / 1000);
  const text = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  process.stderr.write(`${seconds} s: ${text.join(', ')}, failures ${failures}\n`);
};
const report = await torture({ ...options, onProgress, signal: controller.signal });
process.stdout.write(`${json ? JSON.stringify(report) : format(report)}\n`);
process.exitCode = report.failures.length === 0 ? 0 : 1;
