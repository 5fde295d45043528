import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';

/** Instruction sets that decide the speed of matrix products, by their names in /proc/cpuinfo. */
const INSTRUCTION_SETS = [
  ...['avx2', 'avx_vnni', 'avx512f', 'avx512_vnni', 'avx512_bf16', 'avx512_fp16'],
  ...['amx_int8', 'amx_bf16', 'asimd', 'asimddp', 'i8mm', 'bf16', 'sve'],
];

/** This machine's processor: its model, instruction sets and cores. */
export function nameProcessor(): string {
  const path = '/proc/cpuinfo';
  return describeProcessor(existsSync(path) ? readFileSync(path, 'utf8') : '', {
    model: cpus()[0]?.model ?? 'unknown processor',
    cores: availableParallelism(),
  });
}

/** @example "flags : fpu avx2 fma" of model "AMD EPYC" with 2 cores  →  "AMD EPYC, avx2, 2 cores" */
export function describeProcessor(
  cpuinfo: string,
  { model, cores }: { readonly model: string; readonly cores: number },
): string {
  const flags = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo)?.[1] ?? '';
  const present = new Set(flags.trim().split(/\s+/));
  const sets = INSTRUCTION_SETS.filter((name) => present.has(name));
  return [model.trim(), ...sets, `${cores} ${cores === 1 ? 'core' : 'cores'}`].join(', ');
}
