import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/summary-reporter.ts';

const folders = ['src', 'test', 'tools'];

/** Statistical tests, fuzzing, kill tests and packaging: `npm run test:slow`. */
const slow = folders.map((folder) => `${folder}/**/*.slow.test.ts`);

const runsSlow = process.env.TEST_GROUP === 'slow';

export default defineConfig({
  test: {
    include: runsSlow ? slow : folders.map((folder) => `${folder}/**/*.test.ts`),
    exclude: ['**/node_modules/**', ...(runsSlow ? [] : slow)],
    pool: 'forks',
    maxWorkers: 2,
    // A busy machine must not fail a test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['default', new SummaryReporter()],
  },
});
