import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { readAdapter } from '../base-setup/lora/peft-files.ts';
import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import { generationConfigSchema } from '../config/generation-config.ts';
import { ConfigError, parseConfig } from '../config/parse-config.ts';
import { Generator } from '../generation/generator.ts';
import type { GeneratedText } from '../generation/sequence.ts';
import type { BasePrecision } from '../models/decoder/base-model.ts';
import type { LoadedModel } from '../models/decoder/load-model.ts';
import { findAdapter, findModel } from '../run/find-model.ts';
import { count } from '../run/run-data.ts';
import { untilInterrupted } from './exit.ts';
import { loadWithProgress, printFound } from './load-model.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';
import { dim, type Output, oneLine, stripControls } from './terminal.ts';

interface GenerateFlags {
  readonly model?: string;
  readonly revision?: string;
  readonly prompt?: readonly string[];
  readonly promptFile?: readonly string[];
  readonly chat?: boolean;
  readonly adapter?: string;
  readonly basePrecision?: BasePrecision | 'auto';
  readonly device?: 'auto' | 'cpu' | 'webgpu';
  readonly json?: boolean;
}

type GenerationConfig = z.output<typeof generationConfigSchema>;

/** `proximal generate`: continues prompts. */
export function addGenerate(command: Command): void {
  const collect = (value: string, earlier: readonly string[] = []) => [...earlier, value];
  command
    .description(
      'Generate text from prompts. A single text is printed as it is generated, several when each is complete. Ctrl-C stops.',
    )
    .option('--model <model>', 'Run, adapter or model folder, or id on the Hugging Face hub')
    .option('--revision <name>', 'Branch, tag or commit on the hub')
    .option(
      '--adapter <folder>',
      'Run or LoRA adapter in PEFT format; its base is the default model',
    )
    .addOption(
      new Option('--base-precision <name>', 'Precision of the base, as in training')
        .choices(['f32', 'int8', 'auto'])
        .default('f32'),
    )
    .addOption(
      new Option('--device <name>', 'Where to run: cpu, a GPU by webgpu, or auto, which is cpu')
        .choices(['auto', 'cpu', 'webgpu'])
        .default('auto'),
    )
    .option('--prompt <text>', 'Prompt to continue; repeatable', collect)
    .option('--prompt-file <file>', 'File with one prompt; - is standard input', collect)
    .option('--chat', "Format each prompt as a user message with the model's chat template")
    .option('--json', 'Print one line of JSON per text, with its tokens');
  addSchemaOptions(command, generationConfigSchema);
  command.action(async (flags: GenerateFlags) => {
    if (flags.prompt === undefined && flags.promptFile === undefined) {
      command.error('Cannot generate: pass --prompt or --prompt-file, got neither');
    }
    if (flags.model === undefined && flags.adapter === undefined) {
      command.error('Cannot generate: pass --model or --adapter, got neither');
    }
    const values = readSchemaOptions(command, generationConfigSchema);
    const config = parseConfig(generationConfigSchema, values, { name: 'the flags' });
    await generateTexts(flags, config);
  });
}

/** Loads a model, continues the prompts and prints the texts. */
async function generateTexts(flags: GenerateFlags, config: GenerationConfig): Promise<void> {
  const prompts = await readPrompts(flags);
  const { basePrecision, device } = flags;
  const { adapter, ...base } = await chooseModel(flags);
  const model = await loadWithProgress({ ...base, basePrecision, device });
  const meter = new SpeedMeter();
  try {
    await untilInterrupted((signal) =>
      generate(prompts, { model, adapter, flags, config, meter, signal }),
    );
  } finally {
    if (meter.tokens > 0) process.stderr.write(`${dim(meter.describe(), process.stderr)}\n`);
  }
}

interface GenerateContext {
  readonly model: LoadedModel;
  /** Folder of an adapter. */
  readonly adapter: string | undefined;
  readonly flags: GenerateFlags;
  readonly config: GenerationConfig;
  readonly meter: SpeedMeter;
  readonly signal: AbortSignal;
}

async function generate(prompts: readonly string[], context: GenerateContext): Promise<void> {
  const { model, flags, config, meter, signal } = context;
  const { stop, topK, precision, ...rest } = config;
  const options = { ...rest, stopStrings: stop, ...(topK !== undefined && { topK }), signal };
  const adapter = await loadAdapter(context.adapter, model);
  const generator = new Generator({ ...model, adapter, precision });
  const { tokenizer } = model;
  const { chat = false } = flags;
  const tokens = prompts.map((prompt) => encodePrompt(prompt, { tokenizer, chat }));
  const writer = chooseWriter(prompts.length * config.numReturnSequences, flags);
  try {
    for await (const event of generator.stream(tokens, options)) {
      const prompt = prompts[event.prompt]!;
      meter.count();
      writer.piece(event.text, prompt);
      if (event.finished) writer.done(event.finished, prompt);
    }
  } finally {
    writer.close();
    await generator.dispose();
  }
}

async function loadAdapter(folder: string | undefined, { base }: LoadedModel) {
  if (folder === undefined) return undefined;
  const { adapter, warning } = await readAdapter(folder, base);
  if (warning !== undefined) process.stderr.write(`Warning: ${warning}\n`);
  return adapter;
}

/** The base and adapter that the flags name. `--model` may also be a run or an adapter, and without it
 *  the base is the one that `--adapter` was trained on. */
async function chooseModel({ model, revision, adapter }: GenerateFlags) {
  const found = await findModel(model ?? adapter!);
  printFound(found);
  if (found.isRewardModel) {
    throw new ConfigError(
      `Cannot generate with ${model ?? adapter}: it must be a language model, got a reward model`,
    );
  }
  const own = adapter === undefined ? undefined : await findAdapter(adapter);
  if (own !== undefined && model !== undefined && found.adapter !== undefined) {
    throw new ConfigError(
      `Cannot generate with ${model} and the adapter ${adapter}: there must be one adapter, got two; pass the base as --model, or leave out --adapter`,
    );
  }
  return {
    modelName: found.modelName,
    revision: revision ?? found.revision,
    adapter: own ?? found.adapter,
  };
}

/** The prompts of flags, then those of files without their last line break. */
async function readPrompts({
  prompt = [],
  promptFile = [],
}: Pick<GenerateFlags, 'prompt' | 'promptFile'>): Promise<string[]> {
  const prompts = [...prompt];
  for (const file of promptFile) {
    const text = file === '-' ? await readAll(process.stdin) : await readPrompt(file);
    prompts.push(text.replace(/\r?\n$/, ''));
  }
  return prompts;
}

async function readPrompt(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const got = error.code === 'ENOENT' ? 'no such file' : error.message;
    throw new Error(`Cannot read the prompt ${file}: it must be a text file, got ${got}`);
  });
}

/** A prompt's tokens. A chat template writes special tokens itself. */
function encodePrompt(
  prompt: string,
  { tokenizer, chat }: { tokenizer: Tokenizer; chat: boolean },
): Int32Array {
  if (!chat) return tokenizer.encode(prompt);
  const messages = [{ role: 'user', content: prompt }];
  const text = tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true });
  return tokenizer.encode(text, { addSpecialTokens: false });
}

/** Prints generated texts. */
export interface TextWriter {
  /** Called for each new piece of a text. */
  piece(text: string, prompt: string): void;
  /** Called when a text is complete. */
  done(text: GeneratedText, prompt: string): void;
  /** Called at the end, also after an interruption. */
  close(): void;
}

function chooseWriter(texts: number, { json, chat = false }: GenerateFlags): TextWriter {
  if (json) return jsonWriter(process.stdout);
  return texts === 1 ? streamWriter(process.stdout, { chat }) : listWriter(process.stdout);
}

/** Prints one text as it is generated; on a terminal after its prompt, which is on its own line in a chat. */
export function streamWriter(output: Output, { chat }: { chat: boolean }): TextWriter {
  let hasOutput = false;
  return {
    piece(text, prompt) {
      const start = stripControls(prompt);
      if (!hasOutput && output.isTTY) output.write(dim(chat ? `> ${start}\n` : start, output));
      hasOutput = true;
      output.write(stripControls(text));
    },
    done: () => {},
    close() {
      if (hasOutput) output.write('\n');
    },
  };
}

/** Prints several texts, each under a line that names it. */
export function listWriter(output: Output): TextWriter {
  return {
    piece: () => {},
    done({ prompt: index, sample, text }, prompt) {
      const start = oneLine(stripControls(prompt), 50);
      const header = `── prompt ${index + 1}, text ${sample + 1}: ${start}`;
      output.write(`${dim(header, output)}\n${stripControls(text)}\n\n`);
    },
    close: () => {},
  };
}

/** Prints one line of JSON per text. */
export function jsonWriter(output: Output): TextWriter {
  return {
    piece: () => {},
    done({ prompt: promptIndex, promptTokens, ...text }, prompt) {
      const line = {
        promptIndex,
        prompt,
        ...text,
        promptTokens: Array.from(promptTokens),
        tokens: Array.from(text.tokens),
        logprobs: Array.from(text.logprobs),
        samplingLogprobs: Array.from(text.samplingLogprobs),
      };
      output.write(`${JSON.stringify(line)}\n`);
    },
    close: () => {},
  };
}

/** Counts tokens and measures their speed. */
export class SpeedMeter {
  tokens = 0;
  private readonly now: () => number;
  private first = 0;
  private last = 0;

  /** @param now the time in milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  count(): void {
    this.last = this.now();
    if (this.tokens === 0) this.first = this.last;
    this.tokens++;
  }

  /** The speed is measured from the first token on, which excludes the prompt.
   *  @example '50 tokens, 118 tokens/s' */
  describe(): string {
    const seconds = (this.last - this.first) / 1000;
    const speed = (this.tokens - 1) / seconds;
    const amount = count(this.tokens, 'token');
    return seconds > 0 ? `${amount}, ${speed.toFixed(speed < 10 ? 1 : 0)} tokens/s` : amount;
  }
}
