import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RolloutPrecision } from '../src/generation/decode-weights.ts';
import { type BenchOptions, round } from './measure.ts';
import { runPeer } from './peer.ts';
import { type CaseName, stepCases } from './ppo-step/cases.ts';
import { type CaseResult, runChild } from './ppo-step/run-child.ts';

const REPEATS = 3;
const LAYERS = 28;

/** Whole PPO updates at Qwen3-0.6B's shape; with a Python, also the same work in torch and TRL.
 *  The default case is at the top level, the others are in `cases`. */
export async function benchPpoStep(options: BenchOptions): Promise<object> {
  if (options.case !== undefined) return measureCase(options.case as CaseName, options);
  const { default: first, ...others } = stepCases;
  const result = measureCase('default', options);
  const cases = Object.keys(others).map((name) => [name, measureCase(name as CaseName, options)]);
  return { ...result, cases: Object.fromEntries(cases) };
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

/** Runs the same texts in the peers: torch + PEFT by our own script, and TRL if it is installed. */
function comparePeers(
  own: CaseResult,
  { name, python }: { name: CaseName; python: string },
): object {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-bench-'));
  const path = join(folder, 'case.json');
  const { prompts, samples, epochs } = stepCases[name];
  const shape = { prompts, samples, epochs, responses: own.responses };
  const settings = { repeats: REPEATS, threads: availableParallelism() };
  try {
    writeFileSync(path, JSON.stringify({ ...shape, ...settings }));
    const torch = runPeer(python, 'ppo_step.py', path) as CaseResult;
    console.error(`torch: ${JSON.stringify(torch)}`);
    const trl = hasTrl(python)
      ? (runPeer(python, 'ppo_step_trl.py', path) as CaseResult)
      : undefined;
    if (trl !== undefined) console.error(`trl: ${JSON.stringify(trl)}`);
    const peer = trl ?? torch;
    return {
      peer,
      speed_ratio: round(peer.seconds / own.seconds, 2),
      rss_ratio: round(own.peak_rss_mb / peer.peak_rss_mb),
      torch,
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
