import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/summary-reporter.ts';

/** `*.slow.test.ts` are statistical tests, fuzzing, kill tests and packaging: `npm run test:slow`. */
export default defineConfig({
  test: {
    include: ['src', 'test', 'tools', 'bench'].map((folder) => `${folder}/**/*.test.ts`),
    setupFiles: ['test/helpers/own-trust-folder.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // A busy machine must not fail a test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default', new SummaryReporter()],
  },
});
