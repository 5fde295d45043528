import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Ends the output with the line `N passed, N failed, N skipped`.
 *  A file, suite or process that breaks outside a test counts as one failure. */
export class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]) {
    const counts = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const { state } of [...module.children.allTests()].map((t) => t.result())) {
        counts[state]++;
      }
      const broken = [module, ...module.children.allSuites()].filter((s) => s.errors().length > 0);
      counts.failed += broken.length;
    }
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}
