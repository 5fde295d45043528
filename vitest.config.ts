import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/summary-reporter.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'tools/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', new SummaryReporter()],
  },
});
