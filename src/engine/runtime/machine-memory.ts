/** What Node reports about memory. */
interface NodeProcess {
  constrainedMemory(): number;
  readonly memoryUsage: { rss(): number };
  getBuiltinModule(id: 'node:os'): { totalmem(): number };
}

/** What a page knows about its device. */
interface PageNavigator {
  /** In GiB: 0.25 to 8. */
  readonly deviceMemory?: number;
}

const { process: node, navigator: page } = globalThis as unknown as {
  readonly process?: NodeProcess;
  readonly navigator?: PageNavigator;
};

const GIB = 2 ** 30;

/** WebAssembly addresses 4 GiB, and a tab without further information may have less. */
const TAB = { limit: 4 * GIB, unknown: 2 * GIB };

/** Bytes of memory that this process or tab can have. */
export function machineMemory(): number {
  if (node === undefined) {
    const { deviceMemory } = page ?? {};
    return Math.min(deviceMemory === undefined ? TAB.unknown : deviceMemory * GIB, TAB.limit);
  }
  const limit = node.constrainedMemory();
  // There is no limit if it is 0 or larger than the memory.
  return Math.min(node.getBuiltinModule('node:os').totalmem(), limit > 0 ? limit : Infinity);
}

/** The metric of the memory that this process uses; none in a browser, which does not report it. */
export function memoryMetrics(): Readonly<Record<string, number>> {
  return node === undefined ? {} : { 'perf/rss_mb': node.memoryUsage.rss() / 2 ** 20 };
}
