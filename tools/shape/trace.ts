/** What a checkout runs from `proximal train` to the first token, and in one PPO step. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface StepTrace {
  /** Files of src in which a function ran. */
  readonly files: readonly string[];
  /** Distinct functions that ran. */
  readonly functions: number;
}

export interface FirstTokenTrace extends StepTrace {
  /** The call stack at the first sampled token, outermost first, across awaits. */
  readonly frames: readonly { readonly file: string; readonly name: string }[];
}

const model = fileURLToPath(new URL('../../embedded', import.meta.url));
const prompts = ['My sister called', 'It rained all week', 'We are moving', 'I lost my keys'];

export function traceFirstToken(tree: string): FirstTokenTrace {
  return trace('first-token', tree) as FirstTokenTrace;
}

export function traceStep(tree: string): StepTrace {
  return trace('step', tree) as StepTrace;
}

function trace(mode: 'first-token' | 'step', tree: string): unknown {
  const folder = mkdtempSync(join(tmpdir(), 'trace-'));
  const child = fileURLToPath(new URL('trace-child.ts', import.meta.url));
  const [output, promptsFile] = [join(folder, 'trace.json'), join(folder, 'prompts.txt')];
  writeFileSync(promptsFile, prompts.join('\n'));
  try {
    const args = ['--import', 'tsx', child, mode, tree, output, model, promptsFile];
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: tree, encoding: 'utf8' });
    if (status !== 0) throw new Error(`Cannot trace ${tree} (${mode}): ${stderr}`);
    return JSON.parse(readFileSync(output, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
