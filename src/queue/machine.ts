import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { version } from '../version.ts';
import type { Machine } from './protocol.ts';

/** Instruction sets that decide how products of matrices are added up, as /proc/cpuinfo names them. */
const INSTRUCTION_SETS = [
  ...['avx2', 'avx_vnni', 'avx512f', 'avx512_vnni', 'amx_int8'],
  ...['asimd', 'asimddp', 'i8mm', 'sve'],
];

/** This machine, as far as it determines the bits of results. */
export function describeMachine(): Omit<Machine, 'threads'> {
  const { version: onnxRuntime } = createRequire(import.meta.url)(
    'onnxruntime-node/package.json',
  ) as { version: string };
  return { version, onnxRuntime, instructions: describeInstructions() };
}

function describeInstructions(): string {
  const path = '/proc/cpuinfo';
  const cpuinfo = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const flags = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo)?.[1] ?? '';
  const present = new Set(flags.trim().split(/\s+/));
  const found = INSTRUCTION_SETS.filter((name) => present.has(name));
  return [process.arch, ...found].join(' ');
}

const labels: Readonly<Record<keyof Machine, string>> = {
  version: 'version of Proximal',
  onnxRuntime: 'version of ONNX Runtime',
  instructions: 'instruction set',
  threads: 'number of threads',
};

/** How a machine differs from the one that a run needs, in one phrase per difference.
 *  @example 'version of Proximal must be 0.1.0, got 0.0.9' */
export function compareMachines(needed: Machine, own: Machine): string[] {
  return (Object.keys(labels) as (keyof Machine)[])
    .filter((key) => needed[key] !== own[key])
    .map((key) => `${labels[key]} must be ${needed[key]}, got ${own[key]}`);
}
