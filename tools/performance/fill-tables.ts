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

interface StepResults extends StepResult {
  readonly cases: Readonly<Record<string, StepResult>>;
}

interface ScalingPoint {
  readonly at: number;
  readonly seconds: number;
  readonly ms_per_token: number;
  readonly peak_rss_mb: number;
}

interface ScalingResults {
  readonly curves: Readonly<Record<string, readonly ScalingPoint[]>>;
  readonly long: Readonly<Record<string, ScalingPoint>>;
}

type Results = (name: string) => unknown;

/** The tables of the page, each made of the JSON that a benchmark printed. */
const tables: Readonly<Record<string, (results: Results) => string>> = {
  'ppo-step': (results) => stepTable(results),
  'ppo-phases': (results) => phaseTable(results('ppo-step-int8') as StepResults),
  'ppo-scaling': (results) => scalingTable(results('ppo-scaling') as ScalingResults),
};

/** Writes every table of a page between its marks, `<!-- name -->` and `<!-- /name -->`. */
export function fillTables(page: string, results: Results): string {
  return Object.entries(tables).reduce((text, [name, make]) => {
    const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
    const [from, to] = [text.indexOf(start), text.indexOf(end)];
    if (from < 0 || to < from) {
      throw new Error(`Cannot fill the page: it must hold ${start.trim()} and ${end}, got neither`);
    }
    return `${text.slice(0, from + start.length)}\n${make(results)}\n\n${text.slice(to)}`;
  }, page);
}

function stepTable(results: Results): string {
  const rows = ['f32', 'int8'].flatMap((precision) => {
    const { cases, ...first } = results(`ppo-step-${precision}`) as StepResults;
    return Object.entries({ default: first, ...cases }).map(([name, one]) => [
      ...[name, precision, seconds(one), seconds(one.peer), seconds(one.torch)],
      `${times(one.speed_ratio)} / ${times(one.torch_speed_ratio)}`,
      ...[memory(one), memory(one.peer), memory(one.torch)],
      ...[`${one.rss_ratio ?? '–'}`, `${one.flops_ratio}`, `${one.matmul_fraction}`],
    ]);
  });
  const head = ['case', 'rollout', 'Proximal', 'TRL', 'torch + PEFT', 'TRL / torch is slower by'];
  const tail = ['memory', 'TRL', 'torch + PEFT', 'of TRL', 'FLOPs done / needed'];
  return formatTable([[...head, ...tail, 'update, of raw matmul'], ...rows]);
}

function phaseTable({ phases, peer, torch }: StepResults): string {
  const list = (given: PeerResult['phases'] | undefined) =>
    Object.entries(given ?? {})
      .map(([name, time]) => `${name.replace('_', ' ')} ${time.toFixed(1)}`)
      .join(', ');
  return formatTable([
    ['', 'seconds'],
    ['Proximal', list(phases)],
    ['TRL', list(peer?.phases)],
    ['torch + PEFT', list(torch?.phases)],
  ]);
}

function scalingTable({ curves, long }: ScalingResults): string {
  const rows = Object.entries(curves).map(([name, points]) => [
    name.replace('_', ' '),
    points.map(({ at, ms_per_token }) => `${at}: ${ms_per_token.toFixed(1)}`).join(', '),
    points.map(({ at, peak_rss_mb }) => `${at}: ${gigabytes(peak_rss_mb)}`).join(', '),
  ]);
  const longRows = Object.entries(long).map(([name, { ms_per_token, peak_rss_mb, seconds: s }]) => [
    `${name.replace('_', ' of ')}, 28 layers`,
    `${ms_per_token.toFixed(1)} (${s.toFixed(0)} s)`,
    gigabytes(peak_rss_mb),
  ]);
  return formatTable([['', 'ms a token', 'peak memory'], ...rows, ...longRows]);
}

const seconds = (one: PeerResult | undefined) => (one ? `${one.seconds.toFixed(1)} s` : '–');
const memory = (one: PeerResult | undefined) => (one ? gigabytes(one.peak_rss_mb) : '–');
const times = (ratio: number | undefined) => (ratio === undefined ? '–' : `${ratio} ×`);
const gigabytes = (mebibytes: number) => `${((mebibytes * 2 ** 20) / 1e9).toFixed(1)} GB`;

function formatTable([head, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head!), line(head!.map(() => '---')), ...rows.map(line)].join('\n');
}
