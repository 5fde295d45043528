import { type Command, Option } from 'commander';
import { readAdapter } from '../base-setup/lora/peft-files.ts';

import type { FloatDtype } from '../base-setup/safetensors/index.ts';
import { openSafetensors } from '../base-setup/safetensors/open-weights.ts';
import { isFloatDtype } from '../base-setup/safetensors/tensor-info.ts';
import { ConfigError } from '../config/parse-config.ts';
import { saveModel } from '../models/decoder/save-model.ts';
import { findModel } from '../run/find-model.ts';
import { formatBytes, formatCount, shellQuote, shortPath } from './format.ts';
import { expectEmptyFolder } from './init.ts';
import { loadWithProgress, printFound } from './load-model.ts';
import { commandLine } from './program-command.ts';
import { showStatus } from './terminal.ts';

const about = `Merge a LoRA adapter into its base and write a whole model as a Hugging Face folder, which transformers, vLLM and other programs load without PEFT. <model> is a run, its model folder, a checkpoint or an adapter.`;

/** Names as in PyTorch. */
const dtypes: Readonly<Record<string, FloatDtype>> = {
  float32: 'F32',
  bfloat16: 'BF16',
  float16: 'F16',
};

interface MergeFlags {
  readonly output: string;
  readonly model?: string;
  readonly revision?: string;
  readonly dtype?: string;
}

/** `proximal merge`: a whole model from an adapter and its base. */
export function addMerge(command: Command): void {
  command
    .description(about)
    .argument('<model>', 'Run, adapter or checkpoint')
    .requiredOption(
      '--out, --output <folder>',
      'Folder of the merged model, which must be new or empty',
    )
    .option('--model <model>', 'The base, if it has moved since the adapter was trained')
    .option('--revision <name>', 'Branch, tag or commit of the base on the hub')
    .addOption(
      new Option('--dtype <name>', "Number format of the weights; default: the base's").choices(
        Object.keys(dtypes),
      ),
    )
    .action(async (place: string, flags: MergeFlags) => {
      process.stdout.write(`${await merge(place, flags)}\n`);
    });
}

async function merge(place: string, { output: out, ...flags }: MergeFlags): Promise<string> {
  await expectEmptyFolder(out);
  const found = await findModel(place);
  printFound(found);
  const { adapter: folder, isRewardModel } = found;
  if (folder === undefined || isRewardModel) {
    const got = isRewardModel ? 'a reward model, whose head only an adapter has' : 'a whole model';
    throw new ConfigError(
      `Cannot merge ${place}: it must be an adapter of a language model, got ${got}`,
    );
  }
  const { model: modelName = found.modelName, revision = found.revision } = flags;
  const model = await loadWithProgress({ modelName, revision });
  const { adapter, warning } = await readAdapter(folder, model.base);
  if (warning !== undefined) process.stderr.write(`Warning: ${warning}\n`);
  const dtype = flags.dtype === undefined ? await findDtype(model.folder) : dtypes[flags.dtype]!;
  const hideStatus = showStatus(`Writing ${shortPath(out)}`);
  await saveModel(out, model.base, { adapter, source: model.folder, dtype }).finally(hideStatus);
  const parameters = [...model.base.weights.values()].reduce(
    (sum, { data }) => sum + data.length,
    0,
  );
  const size = formatBytes(parameters * (dtype === 'F32' ? 4 : 2));
  await model.base.dispose();
  const next = commandLine(`generate --model ${shellQuote(shortPath(out))} --prompt "…"`);
  return `Merged ${shortPath(folder)} into ${shortPath(modelName)}: ${formatCount(parameters)} parameters, ${size}, in ${shortPath(out)}\nNext\n  ${next}`;
}

/** The number format of most of a model's weights. */
async function findDtype(folder: string): Promise<FloatDtype> {
  const reader = await openSafetensors(folder);
  await reader.close();
  const bytes = new Map<FloatDtype, number>();
  for (const { dtype, length } of reader.tensors) {
    if (isFloatDtype(dtype)) bytes.set(dtype, (bytes.get(dtype) ?? 0) + length);
  }
  const [largest] = [...bytes].sort(([, a], [, b]) => b - a);
  return largest?.[0] ?? 'F32';
}
