import { basename, dirname, join } from 'node:path';
import { readPeftConfig } from '../base-setup/lora/peft-files.ts';
import { ConfigError } from '../config/parse-config.ts';
import { pathExists } from '../fs/index.ts';
import { CheckpointStore, checkpointsName } from '../loop/checkpoint-store.ts';
import type { BasePrecision } from '../models/decoder/base-model.ts';
import { chooseBasePrecision, describeSlowBytes } from '../models/decoder/base-precision.ts';
import { locateRunFiles, readRunConfig } from './run-folder.ts';
import { stateName } from './run-state.ts';

/** A model as the commands load it: a base and possibly an adapter over it. */
export interface FoundModel {
  /** Folder or hub id of the base. */
  readonly modelName: string;
  /** Revision of the base on the hub. */
  readonly revision: string | undefined;
  /** Folder of the adapter; undefined for a whole model. */
  readonly adapter: string | undefined;
  /** Whether the adapter has the head of a reward model. */
  readonly isRewardModel: boolean;
  /** What was found, in one sentence; undefined for a whole model that was named directly. */
  readonly message: string | undefined;
}

/** Finds the model at a place: a run folder, its `model`, a checkpoint, an adapter, a whole model, or a
 *  hub id.
 *  @example runs/a of `proximal train --model org/base`
 *    →  { modelName: 'org/base', adapter: 'runs/a/model', … } */
export async function findModel(place: string): Promise<FoundModel> {
  const found = await locate(place);
  if (found.adapter !== undefined) return describeAdapter(place, found.adapter);
  const message =
    found.model === place ? undefined : `Found a run in ${place}: the whole model ${found.model}`;
  const none = { revision: undefined, adapter: undefined, isRewardModel: false };
  return { modelName: found.model, ...none, message };
}

/** What an adapter is looked up for, in errors. */
interface AdapterUse {
  /** `adapter` by default. */
  readonly role?: 'adapter' | 'reward';
}

/** The folder of the adapter at a place: a run folder, its `model`, a checkpoint or an adapter. */
export async function findAdapter(
  place: string,
  { role = 'adapter' }: AdapterUse = {},
): Promise<string> {
  const found = await locate(place, role);
  if (found.adapter !== undefined) return found.adapter;
  const remedy = role === 'adapter' ? 'pass it as the model' : 'train a reward model over it';
  throw new ConfigError(
    `Cannot use the ${role} ${place}: it must be a run or a folder with adapter_config.json, got ${(await pathExists(place)) ? `a whole model; ${remedy}` : 'no such folder'}`,
  );
}

/** Config keys that determine where training starts. */
interface StartConfig {
  readonly modelName: string;
  readonly basePrecision: BasePrecision | 'auto';
  readonly revision?: string | undefined;
  readonly adapter?: string | undefined;
}

/** Where training starts: if `modelName` is a run or an adapter, its base becomes the model and its
 *  adapter the initial one. A base precision of `auto` becomes the faster one of this machine, which the
 *  run keeps when it is resumed. */
export async function resolveStart<C extends StartConfig>(
  config: C,
): Promise<{ readonly config: C; readonly message: string | undefined }> {
  const { config: start, message } = await findStart(config);
  const { basePrecision } = config;
  const { precision, message: reason } =
    basePrecision === 'auto'
      ? await chooseBasePrecision()
      : {
          precision: basePrecision,
          message: basePrecision === 'int8' ? await describeSlowBytes() : undefined,
        };
  const messages = [message, reason].filter((text) => text !== undefined);
  return {
    config: { ...start, basePrecision: precision },
    message: messages.length === 0 ? undefined : messages.join('\n'),
  };
}

async function findStart<C extends StartConfig>(
  config: C,
): Promise<{ readonly config: C; readonly message: string | undefined }> {
  const found = await findModel(config.modelName);
  if (found.message === undefined) return { config, message: undefined };
  const { modelName, revision, adapter, isRewardModel, message } = found;
  if (isRewardModel) {
    throw new ConfigError(
      `Cannot start from ${config.modelName}: it must be a language model, got a reward model; use it as --reward model:${config.modelName}`,
    );
  }
  if (adapter === undefined) return { config: { ...config, modelName }, message };
  if (config.adapter !== undefined) {
    throw new ConfigError(
      `Cannot start from ${config.modelName} and the adapter ${config.adapter}: there must be one adapter, got two; pass the base as the model, or leave out the adapter`,
    );
  }
  return { config: { ...config, modelName, revision, adapter }, message };
}

type Location =
  | { readonly adapter: string; readonly model?: undefined }
  | { readonly model: string; readonly adapter?: undefined };

/** @param role what the place is used as, for errors */
async function locate(
  place: string,
  role: 'model' | 'adapter' | 'reward' = 'model',
): Promise<Location> {
  if (!(await pathExists(place))) return { model: place };
  if (await pathExists(join(place, stateName))) return locateInRun(place);
  // A checkpoint of PPO has its policy in a folder.
  for (const folder of [place, join(place, 'policy')]) {
    if (await hasAdapter(folder)) return { adapter: folder };
  }
  if (await pathExists(join(place, 'config.json'))) return { model: place };
  const wanted = role === 'model' ? 'a run, an adapter or a whole model' : 'a run or an adapter';
  throw new ConfigError(
    `Cannot use the ${role} ${place}: it must be ${wanted}, got no ${stateName}, adapter_config.json or config.json in it`,
  );
}

/** The model of a run: the one it saved at its end, or the policy of its latest checkpoint. */
async function locateInRun(run: string): Promise<Location> {
  const model = join(run, 'model');
  if (await hasAdapter(model)) return { adapter: model };
  if (await pathExists(join(model, 'config.json'))) return { model };
  const checkpoints = new CheckpointStore(locateRunFiles(run).checkpoints, { keep: 1 });
  const latest = await checkpoints.latest();
  const policy = latest && join(latest.folder, 'policy');
  if (policy !== undefined && (await hasAdapter(policy))) return { adapter: policy };
  throw new Error(
    `Cannot use the run ${run}: it must have a model or a checkpoint of a policy, got none yet; resume it until it ends`,
  );
}

function hasAdapter(folder: string): Promise<boolean> {
  return pathExists(join(folder, 'adapter_config.json'));
}

async function describeAdapter(place: string, adapter: string): Promise<FoundModel> {
  const { baseModelNameOrPath, taskType } = await readPeftConfig(adapter);
  const run = await findRunOf(adapter);
  const config = run === undefined ? {} : await readRunConfig(run);
  const modelName = textOf(config.modelName) ?? baseModelNameOrPath;
  if (modelName === undefined) {
    throw new ConfigError(
      `Cannot find the base of ${adapter}: its adapter_config.json must have base_model_name_or_path, got none; pass the base as --model and this folder as --adapter`,
    );
  }
  const isRewardModel = taskType === 'SEQ_CLS';
  const kind = isRewardModel ? 'reward model' : 'LoRA adapter';
  const what =
    run === place ? `a run in ${place}: the ${kind} ${adapter}` : `a ${kind} in ${adapter}`;
  return {
    modelName,
    revision: textOf(config.revision),
    adapter,
    isRewardModel,
    message: `Found ${what} over ${modelName}`,
  };
}

/** The run that an adapter is part of, such as `run/model` or `run/checkpoints/…/policy`. */
async function findRunOf(adapter: string): Promise<string | undefined> {
  const parent = dirname(adapter);
  const isCheckpoint = basename(dirname(parent)) === checkpointsName;
  const run = isCheckpoint ? dirname(dirname(parent)) : parent;
  return (await pathExists(join(run, stateName))) ? run : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
