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
import { jsonWriter, listWriter, streamWriter } from './text-writers.ts';

type GenerationConfig = z.output<typeof generationConfigSchema>;

/** Loads a model, continues prompts with it and shows the texts. */
export async function generateTexts(flags: GenerateFlags, config: GenerationConfig): Promise<void> {
  const prompts = await readPrompts(flags);
  const { model, revision } = flags;
  const folder = await resolveWithProgress(model, { ...(revision !== undefined && { revision }) });
  const hideStatus = showStatus(`Loading ${model}`);
  const loaded = await loadModel(folder).finally(hideStatus);
  const meter = new SpeedMeter();
  try {
    await untilInterrupted((signal) => run(prompts, { loaded, flags, config, meter, signal }));
  } finally {
    if (meter.tokens > 0) process.stderr.write(`${dim(meter.describe(), process.stderr)}\n`);
  }
}

interface Job {
  readonly loaded: LoadedModel;
  readonly flags: GenerateFlags;
  readonly config: GenerationConfig;
  readonly meter: SpeedMeter;
  readonly signal: AbortSignal;
}

async function run(prompts: readonly string[], job: Job): Promise<void> {
  const { loaded, flags, config, meter, signal } = job;
  const { tokenizer } = loaded;
  const adapter = await loadAdapter(flags.adapter, loaded);
  const generator = new Generator({ ...loaded, adapter, precision: config.precision });
  const tokens = prompts.map((prompt) =>
    encodePrompt(prompt, { tokenizer, chat: flags.chat ?? false }),
  );
  const writer = chooseWriter(prompts.length * config.numReturnSequences, flags);
  try {
    for await (const event of generator.stream(tokens, { ...generationOptions(config), signal })) {
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
