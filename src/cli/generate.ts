import type { Command } from 'commander';
import { generationConfigSchema } from '../config/generation-config.ts';
import { parseConfig } from '../config/parse-config.ts';
import type { GenerateFlags } from './generate/generate-flags.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';

/** `proximal generate`: continues prompts. */
export function addGenerate(program: Command): void {
  const gather = (value: string, earlier: readonly string[] = []) => [...earlier, value];
  const command = program
    .command('generate')
    .summary('Continue prompts')
    .description(
      'Continue prompts. A single text is shown as it comes, several when each is done. Ctrl-C stops.',
    )
    .requiredOption('--model <model>', 'Folder, or id on the Hugging Face hub')
    .option('--revision <name>', 'Branch, tag or commit on the hub')
    .option('--adapter <folder>', 'LoRA adapter, as PEFT saves it')
    .option('--prompt <text>', 'What to continue; may be given again', gather)
    .option('--prompt-file <file>', 'File with one prompt; - is standard input', gather)
    .option('--chat', "Make each prompt a user's message, by the model's chat template")
    .option('--json', 'Print one line of JSON for each text, with its tokens');
  addSchemaOptions(command, generationConfigSchema);
  command.action(async (flags: GenerateFlags) => {
    if (flags.prompt === undefined && flags.promptFile === undefined) {
      command.error('Cannot generate: --prompt or --prompt-file must be given, got neither');
    }
    const given = readSchemaOptions(command, generationConfigSchema);
    const config = parseConfig(generationConfigSchema, given, { name: 'the flags' });
    const { generateTexts } = await import('./generate/generate-texts.ts');
    await generateTexts(flags, config);
  });
}
