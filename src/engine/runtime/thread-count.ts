/** Threads inside one op: the environment's PROXIMAL_THREADS, or one per core. Results of another number
 *  may differ in their last bits. */
export function threadCount(): number {
  // Browsers have no `process`; their WebAssembly threads are set by `WebBackend`.
  const { process } = globalThis as { process?: NodeJS.Process };
  const set = Number(process?.env.PROXIMAL_THREADS);
  if (Number.isInteger(set) && set > 0) return set;
  return process?.getBuiltinModule?.('node:os').availableParallelism() ?? 1;
}
