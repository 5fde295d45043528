import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface PeerResult {
  readonly seconds: number;
  readonly phases: Readonly<Record<string, number>>;
  readonly peak_rss_mb: number;
}

interface StepResult extends PeerResult {
  readonly estimated_rss_mb: number;
  readonly flops_ratio: number;
  readonly matmul_fraction: number;
  readonly peer?: PeerResult;
  readonly speed_ratio?: number;
  readonly rss_ratio?: number;
  readonly torch?: PeerResult;
  readonly torch_speed_ratio?: number;
  readonly torch_rss_ratio?: number;
}

interface ScalingPoint {
  readonly at: number;
  readonly seconds: number;
  readonly ms_per_token: number;
  readonly peak_rss_mb: number;
}

interface ScalingResult {
  readonly curves: Readonly<Record<string, readonly ScalingPoint[]>>;
  readonly long: Readonly<Record<string, ScalingPoint>>;
}

/** Output of benchmarks by the name of its file. */
export type Results = Readonly<Record<string, unknown>>;

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));

export const performancePage = `${docs}performance.md`;

/** Reads the saved JSON output of benchmarks. */
export function readResults(): Results {
  const files = readdirSync(`${docs}performance`);
  return Object.fromEntries(
    files.map((file) => [
      file.replace('.json', ''),
      JSON.parse(readFileSync(`${docs}performance/${file}`, 'utf8')),
    ]),
  );
}

/** The tables of the page. */
const tables: Readonly<Record<string, (results: Results) => string>> = {
  'ppo-step': (results) => stepTable(stepsOf(results)),
  'ppo-phases': (results) => phaseTable(stepsOf(results)),
  'ppo-scaling': (results) => scalingTable(results['ppo-scaling'] as ScalingResult),
};

/** Fills in every table of a page between its markers, `<!-- name -->` and `<!-- /name -->`. */
export function fillTables(page: string, results: Results): string {
  return Object.entries(tables).reduce((text, [name, make]) => {
    const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
    const [from, to] = [text.indexOf(start), text.indexOf(end)];
    if (from < 0 || to < from) {
      throw new Error(
        `Cannot fill the page: it must contain ${start.trim()} and ${end}, got neither`,
      );
    }
    return `${text.slice(0, from + start.length)}\n${make(results)}\n\n${text.slice(to)}`;
  }, page);
}

/** Results of whole PPO updates by case and precision, from `ppo-step-CASE-PRECISION`. */
function stepsOf(results: Results): (readonly [string, StepResult])[] {
  return Object.keys(results)
    .filter((name) => name.startsWith('ppo-step-'))
    .sort()
    .map((name) => [
      name.slice('ppo-step-'.length).replace('-', ', '),
      results[name] as StepResult,
    ]);
}

function stepTable(steps: readonly (readonly [string, StepResult])[]): string {
  const rows = steps.map(([name, one]) => [
    ...[name, seconds(one), seconds(one.peer), seconds(one.torch)],
    `${times(one.speed_ratio)}, ${times(one.torch_speed_ratio)}`,
    ...[memory(one), memory(one.peer), memory(one.torch)],
    `${one.rss_ratio ?? '–'}, ${one.torch_rss_ratio ?? '–'}`,
    `${one.flops_ratio}`,
  ]);
  const durations = ['case, rollout', 'Proximal', 'TRL', 'torch + PEFT', 'speed-up over these'];
  const sizes = ['memory', 'TRL', 'torch + PEFT', 'fraction of these', 'FLOPs done / needed'];
  return formatTable([[...durations, ...sizes], ...rows]);
}

function phaseTable(steps: readonly (readonly [string, StepResult])[]): string {
  const list = ({ phases }: PeerResult) =>
    Object.entries(phases)
      .map(([name, time]) => `${name.replace('_', ' ')} ${time.toFixed(1)}`)
      .join(', ');
  const rows = steps.flatMap(([name, one]) =>
    Object.entries({ Proximal: one, TRL: one.peer, 'torch + PEFT': one.torch }).flatMap(
      ([who, result]) => (result === undefined ? [] : [[name, who, list(result)]]),
    ),
  );
  return formatTable([['case, rollout', '', 'seconds'], ...rows]);
}

function scalingTable({ curves, long }: ScalingResult): string {
  const row = (name: string, { seconds, ms_per_token, peak_rss_mb }: ScalingPoint) => [
    ...[name.replace('_', ' '), `${seconds.toFixed(1)} s`, `${ms_per_token} ms`],
    gigabytes(peak_rss_mb),
  ];
  const rows = [
    ...Object.entries(curves).flatMap(([name, points]) =>
      points.map((point) => row(`${name} ${point.at}`, point)),
    ),
    ...Object.entries(long).map(([name, point]) => row(name, point)),
  ];
  return formatTable([['', 'per update', 'per token', 'memory'], ...rows]);
}

const seconds = (one: PeerResult | undefined) => (one ? `${one.seconds.toFixed(1)} s` : '–');
const memory = (one: PeerResult | undefined) => (one ? gigabytes(one.peak_rss_mb) : '–');
const times = (ratio: number | undefined) => (ratio === undefined ? '–' : `${ratio} ×`);
const gigabytes = (mebibytes: number) => `${((mebibytes * 2 ** 20) / 1e9).toFixed(1)} GB`;

function formatTable([head, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head!), line(head!.map(() => '---')), ...rows.map(line)].join('\n');
}
