import { z } from 'zod';
import type { ModuleShapes } from './lora-adapter.ts';

const fingerprintSchema = z.object({
  /** The fields of config.json that decide what the base computes. */
  config: z.record(z.string(), z.unknown()),
  /** SHA-256 of the weights. */
  weights: z.string().length(64),
});

/** What identifies the base that an adapter was trained over. The same weights have the same
 *  fingerprint in every file format, dtype and folder that preserves their values. */
export type BaseFingerprint = Readonly<z.output<typeof fingerprintSchema>>;

/** The base that an adapter is read for. */
export interface AdapterBase {
  /** Hub id or folder, for errors. */
  readonly name?: string | undefined;
  /** Shapes of its linear modules. */
  modules(): ModuleShapes;
  /** What identifies it in adapters; a promise if the weights must be read first. */
  fingerprint(): BaseFingerprint | Promise<BaseFingerprint>;
}

/** The key in the metadata of an adapter's safetensors file. PEFT ignores metadata there, but warns of
 *  unknown keys in adapter_config.json or, in older versions, rejects them. */
const metadataKey = 'proximal.base';

/** The metadata of an adapter that was trained over a base. */
export function fingerprintMetadata(
  fingerprint: BaseFingerprint | undefined,
): Readonly<Record<string, string>> {
  return fingerprint === undefined ? {} : { [metadataKey]: JSON.stringify(fingerprint) };
}

/** The fingerprint in the metadata of an adapter; undefined if another program saved the adapter. */
export function readFingerprint(
  metadata: ReadonlyMap<string, string>,
  file: string,
): BaseFingerprint | undefined {
  const text = metadata.get(metadataKey);
  if (text === undefined) return undefined;
  const { data, error } = fingerprintSchema.safeParse(parseJson(text));
  if (data !== undefined) return data;
  const [issue] = error.issues as [z.core.$ZodIssue];
  throw new TypeError(
    `Cannot read ${file}: "${metadataKey}" in its metadata must be the fingerprint of a base (${issue.path.join('.')}: ${issue.message}); save the adapter again`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The schema reports that it is not an object.
    return text;
  }
}

/** What a saved adapter says about its base. */
export interface AdapterOrigin {
  /** The adapter's folder. */
  readonly folder: string;
  /** `base_model_name_or_path` of its config. */
  readonly trainedOn: string | undefined;
  /** Undefined if another program saved the adapter. */
  readonly fingerprint: BaseFingerprint | undefined;
}

/** Requires the base that an adapter was trained over. Without a fingerprint only names can be compared:
 *  returns a warning if they differ. */
export async function checkBase(
  { folder, trainedOn, fingerprint }: AdapterOrigin,
  base: AdapterBase,
): Promise<string | undefined> {
  if (fingerprint === undefined) {
    if (!namesDiffer(trainedOn, base.name)) return undefined;
    return `The adapter ${folder} was trained on ${trainedOn} according to its config, and is used with ${base.name}; it has no fingerprint of its base, so only shapes were compared`;
  }
  const own = await base.fingerprint();
  const difference = describeDifference(fingerprint, own);
  if (difference === undefined) return undefined;
  throw new Error(
    `Cannot use the adapter ${folder}: its base must be the one it was trained on, ${describe(fingerprint, trainedOn)}, got ${describe(own, base.name)}, where ${difference}; load the base that it was trained on`,
  );
}

/** @example 'org/tiny', '/models/tiny'  →  false */
function namesDiffer(trainedOn: string | undefined, used: string | undefined): boolean {
  if (trainedOn === undefined || used === undefined) return false;
  return lastPart(trainedOn) !== lastPart(used);
}

/** @example '/models/Tiny/'  →  'tiny' */
function lastPart(path: string): string | undefined {
  return path
    .toLowerCase()
    .split(/[\\/]/)
    .findLast((part) => part !== '');
}

/** @example '"org/tiny" (weights 0123456789ab)' */
function describe({ weights }: BaseFingerprint, name: string | undefined): string {
  return `${name === undefined ? 'a base' : `"${name}"`} (weights ${weights.slice(0, 12)})`;
}

/** The first difference, seen from the base in use. */
function describeDifference(trained: BaseFingerprint, used: BaseFingerprint): string | undefined {
  for (const key of new Set([...Object.keys(trained.config), ...Object.keys(used.config)])) {
    const [before, now] = [JSON.stringify(trained.config[key]), JSON.stringify(used.config[key])];
    if (before !== now) return `${key} is ${now ?? 'missing'} instead of ${before ?? 'missing'}`;
  }
  return trained.weights === used.weights ? undefined : 'the weights have other values';
}
