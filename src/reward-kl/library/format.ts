import { z } from 'zod';
import { ConfigError } from '../../config/parse-config.ts';
import { type LibraryReward, parseOptions } from './library-reward.ts';

const text = z.string().min(1);

export const formatOptions = z.strictObject({
  tags: z
    .array(text)
    .default([])
    .describe('Tags that a response is made of, in order, such as think and answer'),
  startsWith: text.optional().describe('How a response begins, after white space'),
  endsWith: text.optional().describe('How a response ends, before white space'),
  maxLines: z.int().min(1).optional().describe('Most lines that are not blank; one is needed'),
});

export type FormatOptions = z.input<typeof formatOptions>;

type Rule = (response: string) => boolean;

/** The part of the rules of form that a response keeps, in [0, 1]. Each tag is a rule: it stands
 *  once, as `<tag>…</tag>`, with something inside. That nothing else stands before, between or after
 *  the tags, in their order, is one more. Each other option is a rule.
 *  @example tags=['think', 'answer']: '<think>2 + 2</think> <answer>4</answer>'  →  1;
 *    '<think>2 + 2</think> 4'  →  ⅓ (the tag think) */
export function format(options: FormatOptions): LibraryReward {
  const rules = makeRules(parseOptions(formatOptions, options, { reward: 'format' }));
  if (rules.length === 0) {
    throw new ConfigError(
      'Cannot use the reward format: tags, startsWith, endsWith or maxLines must be given, got none',
    );
  }
  return function format({ response }) {
    return rules.filter((rule) => rule(response)).length / rules.length;
  };
}

function makeRules(options: z.output<typeof formatOptions>): Rule[] {
  const { tags, startsWith, endsWith, maxLines } = options;
  const rules: Rule[] = tags.map((tag) => (response) => hasOnce(response, tag));
  if (tags.length > 0) rules.push((response) => isMadeOf(response, tags));
  if (startsWith !== undefined) rules.push((response) => response.trim().startsWith(startsWith));
  if (endsWith !== undefined) rules.push((response) => response.trim().endsWith(endsWith));
  if (maxLines !== undefined) {
    rules.push((response) => {
      const lines = response.split(/\r?\n/).filter((line) => line.trim() !== '').length;
      return lines >= 1 && lines <= maxLines;
    });
  }
  return rules;
}

function hasOnce(response: string, tag: string): boolean {
  const opened = response.split(`<${tag}>`);
  const closed = response.split(`</${tag}>`);
  if (opened.length !== 2 || closed.length !== 2) return false;
  const inside = response.slice(opened[0]!.length + tag.length + 2, closed[0]!.length);
  return inside.trim() !== '';
}

function isMadeOf(response: string, tags: readonly string[]): boolean {
  let rest = response.trim();
  for (const tag of tags) {
    const end = rest.indexOf(`</${tag}>`);
    if (!rest.startsWith(`<${tag}>`) || end < 0) return false;
    rest = rest.slice(end + tag.length + 3).trim();
  }
  return rest === '';
}
