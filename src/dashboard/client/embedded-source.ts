import type { DashboardSource } from '../api.ts';
import type { ReportData } from '../report/report-data.ts';
import { querySamples } from '../sample-query.ts';

/** What a report carries in itself: nothing is asked for elsewhere, and nothing changes. */
export function embeddedSource(report: ReportData): DashboardSource {
  return {
    runs: async () => [report.run],
    config: async () => report.config,
    metrics: async () => report.metrics,
    evaluations: async () => report.evaluations,
    log: async () => report.log,
    samples: async (_run, query) => querySamples(report.samples, query),
    tokens: async (_run, index) => {
      const columns = report.tokens[index];
      if (columns !== undefined) return columns;
      throw new RangeError(
        `Cannot show the tokens of sample ${index}: the report has not got them`,
      );
    },
    live: undefined,
  };
}
