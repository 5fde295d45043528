import type { Command } from 'commander';
import { aliasesOf } from '../config/parse-config.ts';

/** @example numKeyValueHeads  →  num-key-value-heads */
export function flagName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The config keys that the user knows as flags: all keys of the command or, if the settings come from a
 *  file, the ones that were passed as flags. */
export function keysAsFlags(command: Command): string[] {
  const isPassed = (key: string) => command.getOptionValueSource(key) === 'cli';
  const hasFile = isPassed('config') || isPassed('resume');
  const keys = command.options.map((option) => option.attributeName());
  const known = hasFile ? keys.filter(isPassed) : keys;
  return known.flatMap((key) => [aliasesOf[key] ?? key]);
}

/** Names config keys by their flags in a sentence; quoted text stays.
 *  @example 'miniBatchSize must be at most batchSize (4)' with both keys
 *    →  '--mini-batch-size must be at most --batch-size (4)' */
export function nameFlags(sentence: string, keys: readonly string[]): string {
  const [compound, words] = [keys.filter(isCompound), keys.filter((key) => !isCompound(key))];
  // A key of one word may also be an ordinary word, unless it starts a rule or follows "set".
  const ofWords = `(?<=: |\\bset |\\braise |\\bset with |\\b[a-z]+[A-Z]\\w* or )(?:${words.join('|')})(?= must\\b| to\\b|[,;]|$)`;
  const ofCompounds = `(?<![\\w./-])(?:${compound.join('|')})(?![\\w(]|[./]\\w)`;
  const patterns = [
    '"(?:[^"\\\\]|\\\\.)*"',
    ...(compound.length > 0 ? [ofCompounds] : []),
    ...(words.length > 0 ? [ofWords] : []),
  ];
  return sentence.replace(new RegExp(patterns.join('|'), 'g'), (match) =>
    match.startsWith('"') ? match : flagOf(match),
  );
}

function isCompound(key: string): boolean {
  return /[A-Z]/.test(key);
}

/** A key with a shorter name is known by it. */
function flagOf(key: string): string {
  const [short] = Object.entries(aliasesOf).find(([, long]) => long === key) ?? [key];
  return `--${flagName(short)}`;
}
