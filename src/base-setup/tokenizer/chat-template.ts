import { JinjaScope, JinjaTemplate } from './libraries.ts';
import { LimitedInterpreter, makeRange } from './limited-interpreter.ts';
import type { TokenizerFiles } from './tokenizer-files.ts';

/** One turn of a conversation; templates may read more than role and content. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly [key: string]: unknown;
}

/** How a conversation is rendered by the model's chat template. */
export interface ChatTemplateOptions {
  /** Append the start of the assistant's answer; false by default. */
  readonly addGenerationPrompt?: boolean;
  /** JSON schemas of functions that the model may call. */
  readonly tools?: readonly object[];
  /** Texts that the model may use. */
  readonly documents?: readonly object[];
  /** Other variables of the template, such as `enable_thinking: false`. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** The template that turns conversations into prompts, rendered like in transformers. */
export class ChatTemplate {
  /** Templates by name; most models have only `default`. */
  private readonly sources: ReadonlyMap<string, string>;
  private readonly tokenNames: Readonly<Record<string, string>>;
  private readonly parsed = new Map<string, JinjaTemplate>();

  /** chat_template.jinja takes precedence over tokenizer_config.json. */
  constructor({ chatTemplate, config }: TokenizerFiles, names: Readonly<Record<string, string>>) {
    const source = chatTemplate ?? config.chat_template ?? [];
    const named = typeof source === 'string' ? [{ name: 'default', template: source }] : source;
    this.sources = new Map(named.map(({ name, template }) => [name, template]));
    this.tokenNames = names;
  }

  render(messages: readonly ChatMessage[], options: ChatTemplateOptions): string {
    const { addGenerationPrompt = false, tools, documents, variables } = options;
    if (messages.length === 0) {
      throw new RangeError(
        'Cannot apply the chat template: there must be at least one message, got none',
      );
    }
    const scope = makeScope({
      ...this.tokenNames,
      ...variables,
      messages,
      tools: tools ?? null,
      documents: documents ?? null,
      add_generation_prompt: addGenerationPrompt,
    });
    try {
      const { parsed } = this.choose(tools !== undefined);
      return new LimitedInterpreter(scope).run(parsed).value;
    } catch (cause) {
      const { message } = cause as Error;
      throw new Error(`Cannot apply the chat template: ${message}`, { cause });
    }
  }

  private choose(hasTools: boolean): JinjaTemplate {
    const name = hasTools && this.sources.has('tool_use') ? 'tool_use' : 'default';
    const source = this.sources.get(name);
    if (source === undefined) {
      throw new Error(
        'the tokenizer must have one, got none; add chat_template.jinja to its folder, or pass plain text',
      );
    }
    const template = this.parsed.get(name) ?? new JinjaTemplate(source);
    this.parsed.set(name, template);
    return template;
  }
}

/** The variables and transformers' global functions. Defined here because the library's
 *  `strftime_now` uses the machine's language. */
function makeScope(variables: Readonly<Record<string, unknown>>): JinjaScope {
  const globals = {
    true: true,
    True: true,
    false: false,
    False: false,
    none: null,
    None: null,
    range: makeRange,
    raise_exception: (message: string) => {
      throw new Error(message);
    },
    strftime_now: (format: string) => formatTime(new Date(), format),
  };
  const scope = new JinjaScope();
  for (const [name, value] of Object.entries({ ...globals, ...variables })) scope.set(name, value);
  return scope;
}

const months =
  'January February March April May June July August September October November December'.split(
    ' ',
  );
const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** Python's strftime in English, for the directives that chat templates use; local time.
 *  @example 4 July 2024, '%d %b %Y'  →  '04 Jul 2024' */
export function formatTime(time: Date, format: string): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const month = months[time.getMonth()]!;
  const day = days[time.getDay()]!;
  const parts: Readonly<Record<string, string>> = {
    Y: String(time.getFullYear()),
    y: two(time.getFullYear() % 100),
    m: two(time.getMonth() + 1),
    B: month,
    b: month.slice(0, 3),
    d: two(time.getDate()),
    A: day,
    a: day.slice(0, 3),
    H: two(time.getHours()),
    I: two(time.getHours() % 12 || 12),
    p: time.getHours() < 12 ? 'AM' : 'PM',
    M: two(time.getMinutes()),
    S: two(time.getSeconds()),
    '%': '%',
  };
  return format.replace(/%(.)/g, (directive, letter: string) => parts[letter] ?? directive);
}
