import * as jinja from '@huggingface/jinja';
import * as tokenizers from '@huggingface/tokenizers';

// Types of what we use from two libraries whose own types TypeScript cannot always resolve.

export interface LibraryTokenizer {
  readonly model: { readonly vocab: readonly string[] };
  encode(
    text: string,
    options: { add_special_tokens: boolean },
  ): { readonly ids: readonly (number | undefined)[]; readonly tokens: readonly string[] };
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
}

export const LibraryTokenizer = tokenizers.Tokenizer as unknown as new (
  tokenizer: object,
  config: object,
) => LibraryTokenizer;

export interface JinjaTemplate {
  readonly parsed: object;
}

export const JinjaTemplate = jinja.Template as unknown as new (source: string) => JinjaTemplate;

export interface JinjaScope {
  set(name: string, value: unknown): void;
}

export const JinjaScope = jinja.Environment as unknown as new () => JinjaScope;

/** A part of a parsed template. */
export interface JinjaNode {
  readonly type: string;
  /** What a `For` runs over; `lhs` if it has a condition. */
  readonly iterable?: JinjaNode & { readonly lhs?: JinjaNode };
}

export interface JinjaValue {
  readonly value: unknown;
}

/** Runs a template; its value is the text. */
export interface JinjaInterpreter {
  run(program: object): { readonly value: string };
  /** Evaluates a part of the template; all parts go through it. */
  evaluate(node: JinjaNode | undefined, scope: JinjaScope): JinjaValue;
}

export const JinjaInterpreter = jinja.Interpreter as unknown as new (
  scope: JinjaScope,
) => JinjaInterpreter;
