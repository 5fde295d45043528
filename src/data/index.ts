export {
  type CompletionDataset,
  type CompletionRecord,
  type CompletionReport,
  type LoadCompletionsOptions,
  loadCompletions,
} from './completion-dataset.ts';
export type { BadRow, BadRowReason, DataFile, DataRow } from './data-row.ts';
export {
  type LoadPreferencesOptions,
  loadPreferences,
  type PreferenceDataset,
  type PreferenceGroup,
  type PreferencePair,
  type PreferenceReport,
  type RatedCompletion,
} from './preference-dataset.ts';
export {
  type LoadPromptsOptions,
  loadPrompts,
  type PromptDataset,
  type PromptRecord,
  type PromptReport,
} from './prompt-dataset.ts';
export {
  type EpochOrderOptions,
  epochOrder,
  PromptOrder,
  type PromptOrderOptions,
} from './prompt-order.ts';
export { type ReadRowsOptions, type RowSource, readRows } from './read-rows.ts';
export { describeReasons, type RowReport } from './row-dataset.ts';
