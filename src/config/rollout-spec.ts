import { withoutSecrets } from '../http/url-secrets.ts';

/** A server that generates the responses of PPO steps, as written in a config. */
export interface RolloutSpec {
  readonly kind: 'vllm' | 'sglang';
  /** May contain credentials. */
  readonly url: URL;
}

/** Parses the server of rollouts; undefined if the text is not one.
 *  @example 'vllm:http://host:8000'  →  vllm, http://host:8000 */
export function parseRolloutSpec(text: string): RolloutSpec | undefined {
  const [, kind, address = ''] = /^(vllm|sglang):(https?:\/\/.+)$/is.exec(text) ?? [];
  if (kind === undefined || !URL.canParse(address)) return undefined;
  return { kind: kind.toLowerCase() as RolloutSpec['kind'], url: new URL(address) };
}

/** Describes what is wrong with the settings of rollouts, if anything. */
export function findRolloutError({
  rollouts,
  ...filters
}: {
  readonly rollouts?: string | undefined;
  readonly topK?: number | undefined;
  readonly topP: number;
  readonly minP: number;
}): string | undefined {
  if (rollouts === undefined) return undefined;
  const spec = parseRolloutSpec(rollouts);
  if (spec === undefined) {
    return `rollouts must be vllm: or sglang: and a URL, such as vllm:http://localhost:8000, got ${withoutSecrets(rollouts)}`;
  }
  if (spec.kind === 'vllm') return undefined;
  for (const [name, off] of [['topK', undefined] as const, ['topP', 1], ['minP', 0]] as const) {
    if (filters[name] === off) continue;
    return `${name} must be ${off ?? 'unset'} with rollouts by SGLang, whose logprobs ignore filters, got ${filters[name]}; use vLLM to filter`;
  }
  return undefined;
}
