import type { z } from 'zod';
import { readAdapter } from '../../base-setup/lora/peft-reader.ts';
import type { generationConfigSchema } from '../../config/generation-config.ts';
import { Generator } from '../../generation/generator.ts';
import { type LoadedModel, loadModel } from '../../models/decoder/load-model.ts';
import { untilInterrupted } from '../interrupt.ts';
import { resolveWithProgress } from '../resolve-with-progress.ts';
import { dim, showStatus } from '../terminal.ts';
import type { GenerateFlags } from './generate-flags.ts';
import { encodePrompt, readPrompts } from './read-prompts.ts';
import { SpeedMeter } from './speed-meter.ts';
import { TextInProgress } from './text-in-progress.ts';
import { jsonWriter, listWriter, type PlacedText, streamWriter } from './text-writers.ts';

type GenerationConfig = z.output<typeof generationConfigSchema>;

/** Loads a model, continues prompts with it and shows the texts. */
export async function generateTexts(flags: GenerateFlags, config: GenerationConfig): Promise<void> {
  const prompts = await readPrompts(flags);
  const { model, revision } = flags;
  const folder = await resolveWithProgress(model, { ...(revision !== undefined && { revision }) });
  const hideStatus = showStatus(`Loading ${model}`);
  const loaded = await loadModel(folder).finally(hideStatus);
  const texts = placeTexts(prompts, { loaded, flags, config });
  const meter = new SpeedMeter();
  try {
    await untilInterrupted((signal) => run(texts, { loaded, flags, config, meter, signal }));
  } finally {
    if (meter.tokens > 0) process.stderr.write(`${dim(meter.describe(), process.stderr)}\n`);
  }
}

interface Job {
  readonly loaded: LoadedModel;
  readonly flags: GenerateFlags;
  readonly config: GenerationConfig;
}

/** A place for each sample of each prompt, in that order. */
function placeTexts(prompts: readonly string[], { loaded, flags, config }: Job): PlacedText[] {
  const { base, tokenizer } = loaded;
  const context = base.architecture.config.max_position_embeddings;
  return prompts.flatMap((prompt, promptIndex) => {
    const promptTokens = encodePrompt(prompt, { tokenizer, chat: flags.chat ?? false });
    const rules = {
      stop: config.stop,
      stopTokens: tokenizer.eosIds,
      maxTokens: Math.min(config.maxNewTokens, context - promptTokens.length),
    };
    return Array.from({ length: config.numReturnSequences }, (_, sample) => {
      const text = new TextInProgress(rules);
      return { prompt, promptIndex, sample, promptTokens, text };
    });
  });
}

async function run(
  texts: readonly PlacedText[],
  { loaded, flags, config, meter, signal }: Job & { meter: SpeedMeter; signal: AbortSignal },
): Promise<void> {
  const { precision } = config;
  const adapter = await loadAdapter(flags.adapter, loaded);
  const generator = new Generator({ ...loaded, adapter, precision });
  const prompts = texts.filter(({ sample }) => sample === 0).map((text) => text.promptTokens);
  const options = { ...generationOptions(config), stopTokenIds: loaded.tokenizer.eosIds, signal };
  const writer = chooseWriter(texts.length, flags);
  const open = new Set(texts);
  const finish = (placed: PlacedText) => {
    open.delete(placed);
    writer.piece(placed.text.finish(), placed);
    writer.done(placed);
  };
  try {
    for await (const event of generator.stream(prompts, options)) {
      const placed = texts[event.prompt * config.numReturnSequences + event.sample]!;
      meter.count();
      writer.piece(placed.text.push(event), placed);
      if (placed.text.isDone) finish(placed);
    }
    for (const placed of open) finish(placed);
  } finally {
    writer.close();
    await generator.dispose();
  }
}

function generationOptions({ stop, topK, precision, ...config }: GenerationConfig) {
  return { ...config, stopStrings: stop, ...(topK !== undefined && { topK }) };
}

async function loadAdapter(folder: string | undefined, { base }: LoadedModel) {
  if (folder === undefined) return undefined;
  const { adapter } = await readAdapter(folder, base.modules());
  return adapter;
}

function chooseWriter(count: number, { json, chat = false }: GenerateFlags) {
  if (json) return jsonWriter(process.stdout);
  return count === 1 ? streamWriter(process.stdout, { chat }) : listWriter(process.stdout);
}
