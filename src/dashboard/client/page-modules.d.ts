// Modules that vite.config.ts generates when the page is built.

declare module 'virtual:metric-notes' {
  /** The contents of docs/metrics.md. */
  export const metricNotes: import('./charts/metric-notes.ts').MetricNotes;
}

declare module 'virtual:ppo-defaults' {
  /** The default of every PPO setting, from its schema. */
  export const ppoDefaults: import('../../config/ppo-config.ts').PPOConfig;
}
