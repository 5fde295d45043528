import * as jinja from '@huggingface/jinja';
import * as tokenizers from '@huggingface/tokenizers';

// Types of what we use from two libraries whose own types TypeScript cannot resolve from an ES module.

export interface LibraryTokenizer {
  readonly model: { readonly vocab: readonly string[] };
  encode(
    text: string,
    options: { add_special_tokens: boolean },
  ): { readonly ids: readonly (number | undefined)[]; readonly tokens: readonly string[] };
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
}

export const LibraryTokenizer: new (tokenizer: object, config: object) => LibraryTokenizer =
  tokenizers.Tokenizer;

export interface JinjaTemplate {
  readonly parsed: object;
}

export const JinjaTemplate: new (source: string) => JinjaTemplate = jinja.Template;

export interface JinjaScope {
  set(name: string, value: unknown): void;
}

export const JinjaScope: new () => JinjaScope = jinja.Environment;

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

export const JinjaInterpreter: new (scope: JinjaScope) => JinjaInterpreter = jinja.Interpreter;
