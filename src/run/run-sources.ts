import { type PeftAdapter, readAdapter } from '../base-setup/index.ts';
import type { DataFile } from '../data/index.ts';
import type { ModelHeader } from '../models/decoder/load-model.ts';
import { findAdapter } from './find-model.ts';
import type { DataContext } from './run-data.ts';
import { adapterInputs, dataInputs, type RunInput } from './run-inputs.ts';

/** What every run reads besides its base. */
export interface RunSources<D> {
  readonly data: D;
  /** The adapter that training starts from, and its folder. */
  readonly start: (PeftAdapter & { readonly folder: string }) | undefined;
  /** Everything that was read. */
  readonly inputs: readonly RunInput[];
}

interface SourceOptions<D> {
  readonly model: ModelHeader;
  /** Loads the data. */
  readonly load: (context: DataContext) => Promise<D>;
}

/** Reads the data of a run and the adapter that it starts from. A run and its `--dry-run` both do this,
 *  so they reject the same. */
export async function readSources<D>(
  config: { readonly adapter?: string | undefined; readonly validationFile?: string | undefined },
  { model, load }: SourceOptions<D>,
): Promise<RunSources<D>> {
  const { base, tokenizer } = model;
  const files: DataFile[] = [];
  const contextLength = base.architecture.config.max_position_embeddings;
  const onFile = (file: DataFile) => void files.push(file);
  const data = await load({ tokenizer, contextLength, onFile });
  const folder = config.adapter === undefined ? undefined : await findAdapter(config.adapter);
  return {
    data,
    start: folder === undefined ? undefined : { ...(await readAdapter(folder, base)), folder },
    inputs: [
      ...(await dataInputs(files, config)),
      ...(await adapterInputs(folder, 'the initial adapter')),
    ],
  };
}
