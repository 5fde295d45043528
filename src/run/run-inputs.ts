import { createHash } from 'node:crypto';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { parseRewardSpec } from '../config/reward-spec.ts';
import type { RunConfig } from '../config/run-config.ts';
import {
  hashFile,
  parseJsonObject,
  pathExists,
  readOwnText,
  writeAtomically,
} from '../fs/index.ts';
import type { ModelHeader } from '../models/decoder/load-model.ts';
import { parseNamedReward } from '../reward-kl/library/named-rewards.ts';
import { listImports } from '../reward-kl/list-imports.ts';
import { findAdapter } from './find-model.ts';

/** The file of a run that lists what it read. */
const inputsName = 'inputs.json';

const inputSchema = z.strictObject({
  /** What it is, such as `reward reward.ts`; different for each input of a run. */
  what: z.string(),
  path: z.string(),
  sha256: z.string().length(64),
});

const inputsSchema = z.strictObject({ format: z.literal(1), inputs: z.array(inputSchema) });

/** Something that a run reads, besides its config. */
export type RunInput = Readonly<z.output<typeof inputSchema>>;

/** A file that rows are read from. */
interface ReadFile {
  readonly path: string;
  /** What errors call it: its path, or its dataset and its name there. */
  readonly name: string;
}

/** Files of the tokenizer and the defaults of generation in a model's folder. */
const tokenizerFiles = [
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'chat_template.jinja',
  'generation_config.json',
] as const;

/** Files of an adapter that PEFT or this package saved. */
const adapterFiles = [
  'adapter_config.json',
  'adapter_model.safetensors',
  'score_normalization.json',
] as const;

/** The base, by its fingerprint, and its tokenizer. */
export async function modelInputs({
  base,
  folder,
}: Pick<ModelHeader, 'base' | 'folder'>): Promise<RunInput[]> {
  const fingerprint = createHash('sha256').update(JSON.stringify(await base.fingerprint()));
  return [
    { what: 'base model', path: folder, sha256: fingerprint.digest('hex') },
    ...(await hashFolder(folder, { names: tokenizerFiles, owner: 'the base model' })),
  ];
}

/** The files of the training data, and those of the validation data. */
export function dataInputs(
  files: readonly ReadFile[],
  { validationFile }: { readonly validationFile?: string | undefined },
): Promise<RunInput[]> {
  const heldOut = validationFile === undefined ? undefined : resolve(validationFile);
  const distinct = new Map(files.map((file) => [file.path, file]));
  return hashAll(
    [...distinct.values()].map(({ path, name }) => ({
      what: `${resolve(path) === heldOut ? 'validation' : 'training'} data ${basename(name)}`,
      path,
    })),
  );
}

/** A saved adapter or reward model, if there is one. */
export async function adapterInputs(
  folder: string | undefined,
  owner: string,
): Promise<RunInput[]> {
  return folder === undefined ? [] : hashFolder(folder, { names: adapterFiles, owner });
}

/** Reward files with their imports, reward models, files with human scores, schemas, and the environment. */
export async function rewardInputs({
  reward,
  environment,
}: Pick<RunConfig, 'reward' | 'environment'>): Promise<RunInput[]> {
  const files: Omit<RunInput, 'sha256'>[] = [];
  const models: RunInput[] = [];
  for (const { kind, place } of reward.map(parseRewardSpec)) {
    if (kind === 'human') files.push({ what: `human scores ${basename(place)}`, path: place });
    if (kind === 'library') files.push(...schemaOf(place));
    if (kind === 'model') {
      const folder = await findAdapter(place, { role: 'reward' });
      models.push(...(await adapterInputs(folder, `the reward model ${basename(place)}`)));
    }
    if (kind === 'file') files.push(...(await codeOf(place, 'reward')));
  }
  if (environment !== undefined) files.push(...(await codeOf(environment, 'environment')));
  return [...(await hashAll(files)), ...models];
}

/** A file of the user with its imports. */
async function codeOf(
  place: string,
  kind: 'reward' | 'environment',
): Promise<Omit<RunInput, 'sha256'>[]> {
  const [file, ...imports] = await listImports(resolve(place));
  return [
    { what: `${kind} ${basename(place)}`, path: file! },
    ...imports.map((path) => {
      const name = relative(dirname(file!), path).split(sep).join('/');
      return { what: `import ${name} of the ${kind} ${basename(place)}`, path };
    }),
  ];
}

function schemaOf(place: string): Omit<RunInput, 'sha256'>[] {
  const { name, options } = parseNamedReward(place);
  const { schema } = options;
  if (name !== 'jsonSchema' || typeof schema !== 'string') return [];
  return [{ what: `schema ${basename(schema)} of the reward ${name}`, path: schema }];
}

async function hashFolder(
  folder: string,
  { names, owner }: { readonly names: readonly string[]; readonly owner: string },
): Promise<RunInput[]> {
  const files = names.map((name) => ({ what: `${name} of ${owner}`, path: join(folder, name) }));
  const exists = await Promise.all(files.map(({ path }) => pathExists(path)));
  return hashAll(files.filter((_, i) => exists[i]));
}

async function hashAll(files: readonly Omit<RunInput, 'sha256'>[]): Promise<RunInput[]> {
  const inputs: RunInput[] = [];
  for (const file of files) inputs.push({ ...file, sha256: await hashFile(file.path) });
  return inputs;
}

export interface CompareInputsOptions {
  /** Whether the run continues from a checkpoint: its inputs must then be as they were. */
  readonly resume: boolean;
  readonly allowChanged: boolean;
}

/** Records what a run reads, after comparing it. */
export async function recordInputs(
  run: string,
  inputs: readonly RunInput[],
  options: CompareInputsOptions,
): Promise<string[]> {
  const changes = await compareInputs(run, inputs, options);
  const json = JSON.stringify({ format: 1, inputs: numberRepeated(inputs) }, undefined, 2);
  await writeAtomically(join(run, inputsName), `${json}\n`);
  return changes;
}

/** Compares what a run reads with what it read before. A resumed run must read the same as when it
 *  started, unless changes are allowed; then each is returned as a warning. */
export async function compareInputs(
  run: string,
  inputs: readonly RunInput[],
  { resume, allowChanged }: CompareInputsOptions,
): Promise<string[]> {
  const earlier = resume ? await readInputs(run) : undefined;
  const changes = earlier === undefined ? [] : findChanges(earlier, numberRepeated(inputs));
  if (changes.length > 0 && !allowChanged) {
    throw new Error(
      `Cannot resume ${run}: everything it reads must be as when it started, got ${changes.join(', ')}; restore it, start a new run, or continue with the changes by --allow-changed-inputs`,
    );
  }
  return changes.map((change) => `Resuming with changed inputs: ${change}`);
}

/** @example two inputs `reward a.ts`  →  `reward a.ts`, `reward a.ts (2)` */
function numberRepeated(inputs: readonly RunInput[]): RunInput[] {
  const counts = new Map<string, number>();
  return inputs.map((input) => {
    const count = (counts.get(input.what) ?? 0) + 1;
    counts.set(input.what, count);
    return count === 1 ? input : { ...input, what: `${input.what} (${count})` };
  });
}

/** The recorded inputs of a run; undefined if an older version started it. */
async function readInputs(run: string): Promise<readonly RunInput[] | undefined> {
  const file = join(run, inputsName);
  const text = await readOwnText(file);
  if (text === undefined) return undefined;
  const { data } = inputsSchema.safeParse(parseJsonObject(text, file));
  if (data !== undefined) return data.inputs;
  throw new TypeError(
    `Cannot read ${file}: it must be the list of inputs that this version writes; delete it to resume without comparing inputs`,
  );
}

/** One phrase per change.
 *  @example 'a changed reward reward.ts (/p/reward.ts)' */
function findChanges(before: readonly RunInput[], now: readonly RunInput[]): string[] {
  const earlier = new Map(before.map((input) => [input.what, input]));
  const current = new Map(now.map((input) => [input.what, input]));
  return [
    ...now.flatMap(({ what, path, sha256 }) => {
      const old = earlier.get(what);
      if (old?.sha256 === sha256) return [];
      return [`a ${old === undefined ? 'new' : 'changed'} ${what} (${path})`];
    }),
    ...before
      .filter(({ what }) => !current.has(what))
      .map(({ what, path }) => `no ${what} any more (${path})`),
  ];
}
