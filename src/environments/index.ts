export {
  type AnswerJournal,
  type AnswerRow,
  RowJournal,
} from './answer-journal.ts';
export type {
  Environment,
  EnvironmentAnswer,
  EnvironmentTurn,
  Episode,
  EpisodeTurn,
  ToolCallRecord,
  ToolErrorKind,
} from './environment.ts';
export { episodeMetrics } from './episode-metrics.ts';
export { EpisodeRunner } from './episode-runner.ts';
export { type AnswerTurn, type MultiTurnOptions, multiTurn } from './multi-turn.ts';
export type { ToolCallOptions, ToolDefinition, ToolSet } from './tool-set.ts';
export { type ToolsOptions, tools } from './tools.ts';
export { TurnRenderer } from './turn-renderer.ts';
