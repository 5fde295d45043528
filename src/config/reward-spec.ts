import { withoutSecrets } from '../http/index.ts';
import { ConfigError } from './parse-config.ts';

/** A source of scores as written in a config. */
export interface RewardSpec {
  /** The name in metrics, if it was set. */
  readonly name?: string | undefined;
  readonly kind: 'file' | 'server' | 'human' | 'live' | 'model' | 'library';
  /** Path or URL; for `library` the whole text with options and weight; for `live` the word `human`. */
  readonly place: string;
  readonly weight: number;
}

/** Parses a source of scores. A URL with a query has no weight, because it may end with `=` and a number.
 *  A name may come first, followed by `=`. A file whose path starts like a name is written `./a=b.ts`.
 *  @example 'reward.ts'             →  file reward.ts, weight 1
 *  @example 'helpful=model:rm=0.5'  →  model rm named helpful, weight ½
 *  @example 'model:runs/rm=0.5'     →  model runs/rm, weight ½
 *  @example 'human=2'               →  live human, weight 2
 *  @example 'brevity:target=20'     →  library brevity:target=20
 *  @example 'http://host/score?v=2' →  server http://host/score?v=2, weight 1 */
export function parseRewardSpec(text: string): RewardSpec {
  const error = findRewardError(text);
  if (error !== undefined) throw new ConfigError(`Cannot use the run config: ${error}`);
  return splitRewardSpec(text);
}

/** A name, optionally with options or a weight; paths have dots or slashes, the others a scheme. */
const libraryReward = /^(?!(human|model|https?):|human(=|$))[A-Za-z]{2,}([:=].*)?$/s;

const number = /[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/.source;

/** A name before a reward; a number after `=` is a weight instead. */
const named = new RegExp(`^([A-Za-z][\\w-]*)=(?!${number}$)(.+)$`, 'is');

/** Describes what is wrong with a reward's text, if anything. */
export function findRewardError(text: string): string | undefined {
  const { place } = splitRewardSpec(text);
  return place === ''
    ? `reward must name a file, a server or a folder, got ${JSON.stringify(text)}`
    : undefined;
}

/** Parses a source of scores without checking it. */
export function splitRewardSpec(text: string): RewardSpec {
  const [, name, rest = text] = named.exec(text) ?? [];
  const spec = splitUnnamed(rest);
  return name === undefined ? spec : { name, ...spec };
}

function splitUnnamed(text: string): RewardSpec {
  if (libraryReward.test(text)) return { kind: 'library', place: text, weight: 1 };
  const isServer = /^https?:\/\//i.test(text);
  const weighted = new RegExp(`^(.*)=(${number})$`, 'is').exec(text);
  const [, whole = text, weight = '1'] = (isServer && text.includes('?') ? null : weighted) ?? [];
  if (isServer) return { kind: 'server', place: whole, weight: Number(weight) };
  if (whole === 'human') return { kind: 'live', place: whole, weight: Number(weight) };
  const [, kind = 'file', place = whole] = /^(human|model):(.*)$/s.exec(whole) ?? [];
  return { kind: kind as RewardSpec['kind'], place, weight: Number(weight) };
}

/** The text of a spec: the inverse of `splitRewardSpec`. */
export function formatRewardSpec({ name, kind, place, weight }: RewardSpec): string {
  const scheme = kind === 'human' || kind === 'model' ? `${kind}:` : '';
  const start = name === undefined ? '' : `${name}=`;
  return `${start}${scheme}${place}${weight === 1 ? '' : `=${weight}`}`;
}

/** A reward as it is shown: the URL of a server has no credentials and no query.
 *  @example 'judge=https://me:pass@host/score?key=1'  →  'judge=https://host/score' */
export function withoutRewardSecrets(text: string): string {
  const spec = splitRewardSpec(text);
  if (spec.kind !== 'server') return text;
  return formatRewardSpec({ ...spec, place: withoutSecrets(spec.place) });
}
