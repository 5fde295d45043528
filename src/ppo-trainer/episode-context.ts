import type { Tokenizer } from '../base-setup/index.ts';
import type { PromptRecord } from '../data/index.ts';
import {
  type AnswerJournal,
  type Environment,
  type Episode,
  EpisodeRunner,
  TurnRenderer,
} from '../environments/index.ts';
import type { GeneratedText } from '../generation/index.ts';

/** What episodes of several turns need. */
export interface EpisodeOptions {
  /** Answers the policy's turns; without it, a response is one turn. */
  readonly environment?: Environment | undefined;
  /** Other variables of the chat template, such as `enable_thinking: false`. */
  readonly chatTemplateKwargs?: Readonly<Record<string, unknown>> | undefined;
  /** Records the environment's answers, so that a resumed run sees the same ones. */
  readonly journal?: AnswerJournal | undefined;
}

/** Texts whose environment is known. */
export interface RolledOut {
  readonly texts: GeneratedText[];
  /** The episode of each text, in order; missing without an environment. */
  readonly episodes?: readonly Episode[] | undefined;
}

/** Runs the episodes of a trainer with its environment and chat template. */
export class EpisodeContext {
  readonly environment: Environment;
  private readonly tokenizer: Tokenizer;
  private readonly renderer: TurnRenderer;
  private readonly options: EpisodeOptions;
  private hasWarned = false;

  constructor(
    tokenizer: Tokenizer,
    options: EpisodeOptions & { readonly environment: Environment },
  ) {
    const { environment, chatTemplateKwargs: variables } = options;
    this.environment = environment;
    this.options = options;
    this.tokenizer = tokenizer;
    this.renderer = new TurnRenderer({ tokenizer, tools: environment.tools, variables });
  }

  /** A prompt as the start of a conversation with the tools.
   *  @param text a message of the user */
  promptOf(text: string): PromptRecord {
    const { tokenizer, environment } = this;
    const messages = [{ role: 'user', content: text }];
    const { chatTemplateKwargs: variables } = this.options;
    const rendered = tokenizer.applyChatTemplate(messages, {
      addGenerationPrompt: true,
      ...(environment.tools && { tools: environment.tools }),
      ...(variables && { variables }),
    });
    const tokens = tokenizer.encode(rendered, { addSpecialTokens: false });
    return { text: rendered, tokens, messages, row: {} };
  }

  /** Generates texts with the environment, and returns them with their episodes. */
  async run(
    prompts: readonly PromptRecord[],
    scope: readonly (string | number)[],
    generate: (environment: EpisodeRunner) => Promise<GeneratedText[]>,
  ): Promise<RolledOut> {
    const { environment, tokenizer, renderer } = this;
    const { journal } = this.options;
    const runner = new EpisodeRunner({ environment, tokenizer, renderer, prompts, journal, scope });
    const texts = await generate(runner);
    return { texts, episodes: texts.map((text) => runner.episodeOf(text)) };
  }

  /** A warning about the chat template, once. */
  takeWarning(): string | undefined {
    const { warning } = this.renderer;
    if (warning === undefined || this.hasWarned) return undefined;
    this.hasWarned = true;
    return warning;
  }
}
