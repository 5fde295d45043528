import type { Command } from 'commander';
import { z } from 'zod';
import { modelConfigSchema } from '../config/model-config.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';

const seedSchema = z.strictObject({
  seed: z.int().default(0).describe('The same seed gives the same weights'),
});

interface InitFlags {
  readonly out: string;
  readonly tokenizer?: string;
  readonly force?: boolean;
}

/** `proximal init`: a fresh random model as a Hugging Face folder. */
export function addInit(program: Command): void {
  const command = program
    .command('init')
    .summary('Write a fresh random model')
    .description('Write a fresh random model as a Hugging Face folder, which transformers opens.')
    .requiredOption('--out <folder>', 'Where the model goes')
    .option('--tokenizer <folder>', "Folder whose tokenizer is copied, such as another model's")
    .option('--force', 'Write into a folder that is not empty');
  addSchemaOptions(command, seedSchema);
  addSchemaOptions(command, modelConfigSchema);
  command.action(async ({ out, tokenizer, force = false }: InitFlags) => {
    const { initModel } = await import('./init/init-model.ts');
    const config = readSchemaOptions(command, modelConfigSchema);
    const { seed = 0 } = readSchemaOptions(command, seedSchema);
    process.stdout.write(`${await initModel(out, { config, tokenizer, seed, force })}\n`);
  });
}
