import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface UpdateResult {
  readonly seconds: number;
  readonly phases: Readonly<Record<string, number>>;
  readonly peak_rss_mb: number;
}

/** Numbers per peer; a peer that was not measured is missing. */
type PerPeer<T> = Readonly<Partial<Record<string, T>>>;

interface StepResult extends UpdateResult {
  readonly case: string;
  readonly precision: string;
  readonly base_precision?: string;
  readonly lora_layers?: readonly [number, number];
  readonly contended?: boolean;
  readonly processor: string;
  readonly flops_ratio?: number;
  readonly peers?: PerPeer<UpdateResult>;
  readonly ratios?: PerPeer<number>;
  readonly rss_ratios?: PerPeer<number>;
}

interface SmallResult {
  readonly milliseconds: number;
  readonly peak_rss_mb: number;
  readonly contended: boolean;
  readonly processor: string;
  readonly peers: PerPeer<{ readonly seconds: number; readonly other_cores?: number }>;
  readonly ratios: PerPeer<number>;
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
  readonly processor: string;
}

/** Output of benchmarks by the name of its file. */
export type Results = Readonly<Record<string, unknown>>;

/** Peers in the order of their columns, by their names in tables. */
const peers = { trl: 'TRL', torch: 'torch + PEFT', torch_bf16: 'torch, bfloat16' };

const peerNames = Object.keys(peers) as (keyof typeof peers)[];

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
  'ppo-step': (results) => stepTable(resultsOf(results, 'ppo-step-')),
  'ppo-phases': (results) => phaseTable(resultsOf(results, 'ppo-step-')),
  'small-update': (results) => smallTable(resultsOf(results, 'small-update')),
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

/** Results of one benchmark, in the order of their file names. */
function resultsOf<T>(results: Results, prefix: string): T[] {
  const names = Object.keys(results).filter((name) => name.startsWith(prefix));
  return names.sort().map((name) => results[name] as T);
}

/** @example default case, int8 rollouts, adapters in the upper 8 layers  →  'default, int8 rollout, LoRA in layers 20–27' */
function describeCase(step: StepResult): string {
  const { base_precision: base, lora_layers: layers, precision } = step;
  return [
    step.case,
    ...(base === undefined ? [] : [`${base} base`]),
    ...(base === precision ? [] : [`${precision} rollout`]),
    ...(layers === undefined ? [] : [`LoRA in layers ${layers.join('–')}`]),
    ...(step.contended ? ['contended'] : []),
  ].join(', ');
}

function stepTable(steps: readonly StepResult[]): string {
  const rows = steps.map((one) => [
    ...[describeCase(one), one.processor, seconds(one)],
    ...peerNames.map((peer) => comparison(seconds(one.peers?.[peer]), times(one.ratios?.[peer]))),
    memory(one),
    ...peerNames.map((peer) =>
      comparison(memory(one.peers?.[peer]), one.rss_ratios?.[peer]?.toString() ?? '–'),
    ),
    `${one.flops_ratio ?? '–'}`,
  ]);
  const durations = Object.values(peers).map((name) => `${name} (our speed-up)`);
  const sizes = Object.values(peers).map((name) => `${name} (our fraction)`);
  const head = ['case', 'processor', 'Proximal', ...durations, 'memory', ...sizes];
  return formatTable([[...head, 'FLOPs done / needed'], ...rows]);
}

function phaseTable(steps: readonly StepResult[]): string {
  const list = ({ phases }: UpdateResult) =>
    Object.entries(phases)
      .map(([name, time]) => `${name.replace('_', ' ')} ${time.toFixed(1)}`)
      .join(', ');
  const rows = steps.flatMap((one) => [
    [describeCase(one), one.processor, 'Proximal', list(one)],
    ...peerNames.flatMap((peer) => {
      const result = one.peers?.[peer];
      return result === undefined
        ? []
        : [[describeCase(one), one.processor, peers[peer], list(result)]];
    }),
  ]);
  return formatTable([['case', 'processor', '', 'seconds'], ...rows]);
}

function smallTable(results: readonly SmallResult[]): string {
  const rows = results.flatMap(({ processor, milliseconds, contended, peers: found, ratios }) =>
    peerNames.flatMap((peer) => {
      const result = found[peer];
      if (result === undefined) return [];
      const others = `${result.other_cores ?? '–'}${contended ? ' (contended)' : ''}`;
      return [
        [processor, `${milliseconds.toFixed(0)} ms`, peers[peer]].concat(
          `${(1000 * result.seconds).toFixed(0)} ms`,
          ...[times(ratios[peer]), others],
        ),
      ];
    }),
  );
  const head = [
    'processor',
    'Proximal',
    'peer',
    'its time',
    'our speed-up',
    'cores used by others',
  ];
  return formatTable([head, ...rows]);
}

function scalingTable({ curves, long, processor }: ScalingResult): string {
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
  return formatTable([[processor, 'per update', 'per token', 'memory'], ...rows]);
}

const seconds = (one: UpdateResult | undefined) => (one ? `${one.seconds.toFixed(1)} s` : '–');
const memory = (one: UpdateResult | undefined) => (one ? gigabytes(one.peak_rss_mb) : '–');
const times = (ratio: number | undefined) => (ratio === undefined ? '–' : `${ratio} ×`);
const comparison = (value: string, ratio: string) =>
  value === '–' ? value : `${value} (${ratio})`;
const gigabytes = (mebibytes: number) => `${((mebibytes * 2 ** 20) / 1e9).toFixed(1)} GB`;

function formatTable([head, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head!), line(head!.map(() => '---')), ...rows.map(line)].join('\n');
}
