import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RolloutPrecision } from '../src/generation/decode-weights.ts';
import { type BenchOptions, round } from './measure.ts';
import { runPeer } from './peer.ts';
import { type CaseName, type CaseRequest, stepCases } from './ppo-step/cases.ts';

interface Measured {
  readonly seconds: number;
  readonly peak_rss_mb: number;
  readonly responses: readonly number[];
}

const REPEATS = 3;
const LAYERS = 28;

/** Whole PPO updates of Qwen3-0.6B's shape; with a Python, the same work in torch and in TRL. */
export async function benchPpoStep(options: BenchOptions): Promise<object> {
  const names = options.case === undefined ? (['default'] as const) : [options.case as CaseName];
  const results = names.map((name) => [name, measureCase(name, options)] as const);
  return results.length === 1 ? results[0]![1] : Object.fromEntries(results);
}

function measureCase(name: CaseName, { python, precision = 'f32' }: BenchOptions): object {
  const stepCase = stepCases[name];
  if (stepCase === undefined) {
    throw new Error(
      `Cannot measure case "${name}": the cases are ${Object.keys(stepCases).join(', ')}`,
    );
  }
  const settings = { repeats: REPEATS, threads: availableParallelism(), layers: LAYERS };
  const own = runChild({
    ...{ ...stepCase, ...settings },
    precision: precision as RolloutPrecision,
  });
  console.error(`${name}: ${JSON.stringify(own)}`);
  return python === undefined ? own : { ...own, ...comparePeers(own, { name, python }) };
}

/** Measures a case in a process of its own, so that its peak of memory is its own too. */
function runChild(request: CaseRequest): Measured {
  const script = fileURLToPath(new URL('./ppo-step/run-case.ts', import.meta.url));
  const node = [process.execPath, '--import', 'tsx', script, JSON.stringify(request)];
  const cores = Array.from({ length: request.threads }, (_, core) => core).join();
  const [command, ...args] =
    request.threads < availableParallelism() ? ['taskset', '-c', cores, ...node] : node;
  const output = execFileSync(command!, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(output.trim().split('\n').at(-1)!) as Measured;
}

/** The same texts in the peers: torch and PEFT by a script of ours, and TRL where it is installed. */
function comparePeers(own: Measured, { name, python }: { name: CaseName; python: string }): object {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-bench-'));
  const path = join(folder, 'case.json');
  const { prompts, samples, epochs } = stepCases[name];
  const shape = { prompts, samples, epochs, responses: own.responses };
  try {
    writeFileSync(
      path,
      JSON.stringify({ ...shape, repeats: REPEATS, threads: availableParallelism() }),
    );
    const torch = runPeer(python, 'ppo_step.py', path) as Measured;
    console.error(`torch: ${JSON.stringify(torch)}`);
    const trl = hasTrl(python) ? (runPeer(python, 'ppo_step_trl.py', path) as Measured) : undefined;
    if (trl !== undefined) console.error(`trl: ${JSON.stringify(trl)}`);
    const peer = trl ?? torch;
    return {
      peer,
      torch,
      speed_ratio: round(peer.seconds / own.seconds, 2),
      rss_ratio: round(own.peak_rss_mb / peer.peak_rss_mb),
      torch_speed_ratio: round(torch.seconds / own.seconds, 2),
      torch_rss_ratio: round(own.peak_rss_mb / torch.peak_rss_mb),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function hasTrl(python: string): boolean {
  try {
    execFileSync(python, ['-c', 'import trl.experimental.ppo'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
