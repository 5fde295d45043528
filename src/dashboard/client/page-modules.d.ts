declare module 'virtual:metric-notes' {
  /** What docs/metrics.md says, as it stood when the page was built. */
  export const metricNotes: import('./charts/metric-notes.ts').MetricNotes;
}
