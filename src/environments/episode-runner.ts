import type { ChatMessage, Tokenizer } from '../base-setup/tokenizer/index.ts';
import type { FinishedTurn, TurnResponder } from '../generation/index.ts';
import type { AnswerJournal } from './answer-journal.ts';
import type { Environment, EnvironmentAnswer, Episode, EpisodeTurn } from './environment.ts';
import { parseToolCalls } from './parse-tool-calls.ts';
import type { TurnRenderer } from './turn-renderer.ts';

/** A prompt of an episode. */
interface EpisodePrompt {
  readonly text: string;
  readonly tokens: Int32Array;
  /** The conversation that `text` renders; by default one message of the user. */
  readonly messages?: readonly ChatMessage[] | undefined;
  readonly row?: Readonly<Record<string, unknown>> | undefined;
}

/** The parts of an `EpisodeRunner`. */
export interface EpisodeRunnerOptions {
  readonly environment: Environment;
  readonly tokenizer: Tokenizer;
  readonly renderer: TurnRenderer;
  /** By the numbers of the generated texts. */
  readonly prompts: readonly EpisodePrompt[];
  /** Answers of an interrupted run, which are used instead of asking the environment again. */
  readonly journal?: AnswerJournal | undefined;
  /** What the prompts' numbers belong to, such as the training step. */
  readonly scope: readonly (string | number)[];
}

/** An episode that is being generated. */
interface OpenEpisode {
  /** As environments and rewards see it. */
  readonly messages: ChatMessage[];
  /** As the template sees it: sampled texts unparsed, so that it can repeat them exactly. */
  readonly rendered: ChatMessage[];
  readonly turns: EpisodeTurn[];
  /** All text so far, special tokens included. */
  soFar: string;
  /** The tokens before the current turn. */
  before: Int32Array;
}

/** Runs the conversations of some prompts: passes each finished turn to the environment and returns the
 *  tokens of its answer. */
export class EpisodeRunner implements TurnResponder {
  private readonly options: EpisodeRunnerOptions;
  private readonly episodes = new Map<string, OpenEpisode>();

  constructor(options: EpisodeRunnerOptions) {
    this.options = options;
  }

  /** Answers a turn; undefined if the episode ends. */
  async respond(turn: FinishedTurn, { signal }: { readonly signal?: AbortSignal | undefined }) {
    const { environment, renderer } = this.options;
    const episode = this.episodeAt(turn);
    this.addTurn(episode, turn);
    const answer = await this.ask(environment, {
      episode,
      turn,
      signal: signal ?? new AbortController().signal,
    });
    const { messages = [], reward, done = false, calls = [] } = answer;
    const end = (episode.turns.at(-1)?.end ?? 0) + turn.tokens.length;
    episode.turns.push({ end, ...(reward !== undefined && { reward }), calls });
    if (done || messages.length === 0 || turn.finishReason === 'length') return undefined;
    const next = renderer.withoutSpecialTokens(messages);
    const rendered = renderer.render({ soFar: episode.soFar, messages: episode.rendered, next });
    episode.messages.push(...messages);
    episode.rendered.push(...next);
    episode.soFar += rendered.text;
    episode.before = rendered.tokens;
    return rendered;
  }

  /** The episode of a generated text. */
  episodeOf({ prompt, sample }: Pick<FinishedTurn, 'prompt' | 'sample'>): Episode {
    const { messages, turns } = this.episodeAt({ prompt, sample });
    return { messages, turns };
  }

  private async ask(
    environment: Environment,
    about: {
      readonly episode: OpenEpisode;
      readonly turn: FinishedTurn;
      readonly signal: AbortSignal;
    },
  ): Promise<EnvironmentAnswer> {
    const { prompts, journal, scope } = this.options;
    const { episode, turn, signal } = about;
    const { prompt, sample, index } = turn;
    const key = { scope, prompt, sample, turn: index, text: episode.soFar };
    const known = journal?.find(key);
    if (known !== undefined) return known;
    const answer =
      (await environment.answer({
        messages: [...episode.messages],
        turn: index,
        row: prompts[prompt]!.row ?? {},
        truncated: turn.finishReason === 'length',
        signal,
      })) ?? {};
    checkAnswer(answer);
    journal?.add(key, answer);
    return answer;
  }

  private episodeAt({ prompt, sample }: Pick<FinishedTurn, 'prompt' | 'sample'>): OpenEpisode {
    const key = `${prompt} ${sample}`;
    const known = this.episodes.get(key);
    if (known !== undefined) return known;
    const { text, tokens, messages } = this.options.prompts[prompt]!;
    const conversation = messages ?? [{ role: 'user', content: text }];
    const episode = {
      messages: [...conversation],
      rendered: [...conversation],
      turns: [],
      soFar: text,
      before: tokens,
    };
    this.episodes.set(key, episode);
    return episode;
  }

  private addTurn(episode: OpenEpisode, { text, tokens, index }: FinishedTurn): void {
    const { tokenizer } = this.options;
    const { calls } = parseToolCalls(text);
    const valid = calls.flatMap((call, i) =>
      'problem' in call ? [] : [toToolCall(call, { turn: index, index: i })],
    );
    const message = { role: 'assistant', content: text };
    episode.messages.push(valid.length === 0 ? message : { ...message, tool_calls: valid });
    episode.rendered.push(message);
    episode.soFar += tokenizer.decode(tokens, { after: episode.before });
  }
}

function toToolCall(
  { name, input }: { readonly name: string; readonly input: unknown },
  { turn, index }: { readonly turn: number; readonly index: number },
) {
  return {
    id: `call_${turn}_${index}`,
    type: 'function',
    function: { name, arguments: input },
  };
}

function checkAnswer({ reward, messages = [] }: EnvironmentAnswer): void {
  if (reward !== undefined && !Number.isFinite(reward)) {
    throw new TypeError(
      `Cannot continue an episode: the environment's reward must be a finite number, got ${reward}`,
    );
  }
  const bad = messages.find((message) => typeof message?.role !== 'string');
  if (bad !== undefined) {
    throw new TypeError(
      `Cannot continue an episode: the environment's messages must have a role, got ${JSON.stringify(bad)}`,
    );
  }
}
