import { parseArgs } from 'node:util';
import { type TortureOptions, type TortureReport, torture } from './torture.ts';

const help = `npm run torture -- [--minutes N] [--seed S] [--only ATTACK,…] [--at-once N] [--json]
npm run torture -- --case ATTACK/SEED [--json]

Attacks runs, readers and the dashboard for N minutes: kill, power-cut, full-disk, mutation, request,
people (live scores) and workers (needs redis-server). One case per core at once, unless --at-once says
otherwise.
Exits with 1 if anything failed, and prints a command that repeats each failure.
`;

function readFlags(args: string[]): TortureOptions & { readonly json: boolean } {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
      'at-once': { type: 'string' },
      case: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    process.exit();
  }
  const { seed, json, only, case: single, minutes, 'at-once': atOnce } = values;
  return {
    ...{ seed, json, only: only?.split(','), case: single },
    seconds: 60 * readNumber('--minutes', minutes),
    atOnce: atOnce === undefined ? undefined : readNumber('--at-once', atOnce),
  };
}

function readNumber(flag: string, text: string): number {
  if (Number(text) > 0) return Number(text);
  throw new TypeError(`Cannot use ${flag}: it must be a number above 0, got "${text}"`);
}

function format({ failures, readers: _, ...counts }: TortureReport): string {
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
let reported = 0;
const onProgress: TortureOptions['onProgress'] = (counts, failures) => {
  const seconds = Math.round((performance.now() - start) / 1000);
  const text = Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  process.stderr.write(`${seconds} s: ${text.join(', ')}, failures ${failures.length}\n`);
  for (const { message, command } of failures.slice(reported)) {
    process.stderr.write(`${message}\n  ${command}\n`);
  }
  reported = failures.length;
};
const onSkip = (message: string) => process.stderr.write(`${message}\n`);
const report = await torture({ ...options, onProgress, onSkip, signal: controller.signal });
process.stdout.write(`${json ? JSON.stringify(report) : format(report)}\n`);
process.exitCode = report.failures.length === 0 ? 0 : 1;
