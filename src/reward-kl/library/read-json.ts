import { z } from 'zod';

export const fenced = z
  .boolean()
  .default(false)
  .describe('Whether the JSON may stand alone in a Markdown code block');

/** The value of a response that is JSON and nothing else; undefined if it is not.
 *  @example '{"a": 1} done'  →  undefined */
export function readJson(
  response: string,
  options: { readonly fenced: boolean },
): { readonly value: unknown } | undefined {
  const block = options.fenced
    ? /^```(?:json)?[^\S\n]*\n([\s\S]*?)\n?```$/i.exec(response.trim())?.[1]
    : undefined;
  try {
    return { value: JSON.parse(block ?? response) };
  } catch {
    return undefined;
  }
}
