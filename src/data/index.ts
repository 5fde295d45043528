export type { DataRow } from './data-row.ts';
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
