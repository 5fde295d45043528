import type { ChatMessage } from '../base-setup/tokenizer/index.ts';

/** What an environment receives after each turn of the policy. */
export interface EnvironmentTurn {
  /** The conversation so far; the last message is the policy's. */
  readonly messages: readonly ChatMessage[];
  /** Number of the policy's earlier turns. */
  readonly turn: number;
  /** The dataset's columns of the prompt. */
  readonly row: Readonly<Record<string, unknown>>;
  /** Whether the policy was stopped by the length limit; the episode then ends with this turn. */
  readonly truncated: boolean;
  /** Fires when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** How an environment answers a turn. */
export interface EnvironmentAnswer {
  /** The next messages, such as tool results or a user's turn; the episode ends without any. */
  readonly messages?: readonly ChatMessage[] | undefined;
  /** Reward of the turn, on its last token. */
  readonly reward?: number | undefined;
  /** Ends the episode. */
  readonly done?: boolean | undefined;
  /** The tool calls of the turn, for metrics and records. */
  readonly calls?: readonly ToolCallRecord[] | undefined;
}

/** Why a tool call failed. */
export type ToolErrorKind =
  | 'invalid_json'
  | 'unknown_tool'
  | 'invalid_input'
  | 'exception'
  | 'timeout';

/** All kinds of errors, in the order of their metrics. */
export const toolErrorKinds: readonly ToolErrorKind[] = [
  'invalid_json',
  'unknown_tool',
  'invalid_input',
  'exception',
  'timeout',
];

/** One tool call of an episode. */
export interface ToolCallRecord {
  /** Missing if the call could not be parsed. */
  readonly tool?: string | undefined;
  readonly input?: unknown;
  /** What the model sees. */
  readonly output: string;
  readonly error?: ToolErrorKind | undefined;
  readonly seconds: number;
}

/** Answers the policy's turns: the other side of a conversation. */
export interface Environment {
  /** JSON schemas of functions that the chat template describes to the model. */
  readonly tools?: readonly object[] | undefined;
  /** Whether answers may have rewards; true by default. */
  readonly hasRewards?: boolean | undefined;
  /** Answers a turn; undefined ends the episode. */
  answer(turn: EnvironmentTurn): Promise<EnvironmentAnswer | undefined>;
  /** Frees what it holds, such as a connection to a server of tools. Commands call it at their end; a
   *  program that trains calls it itself. */
  close?(): void | Promise<void>;
}

/** A finished episode: the whole conversation, and what happened after each turn of the policy. */
export interface Episode {
  readonly messages: readonly ChatMessage[];
  readonly turns: readonly EpisodeTurn[];
}

/** One turn of the policy, and what the environment said about it. */
export interface EpisodeTurn {
  /** Number of tokens that the policy sampled up to its end. */
  readonly end: number;
  readonly reward?: number | undefined;
  readonly calls: readonly ToolCallRecord[];
}
