import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/summary-reporter.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // A busy machine is no failure.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default', new SummaryReporter()],
  },
});
