import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { type ConfigField, configFields } from '../config/config-fields.ts';

/** Gives a command a flag for each field of a flat schema; a wrong value ends it with one sentence.
 *  @example hiddenSize: z.int().min(1).default(768).describe('Width')
 *    →  --hidden-size <number>  Width (default: 768)
 *  @example tie: z.boolean().default(true)  →  --no-tie, and --tie, which help does not show */
export function addSchemaOptions(command: Command, schema: z.ZodObject): Command {
  for (const field of configFields(schema)) {
    for (const option of makeOptions(command, field)) command.addOption(option);
  }
  return command;
}

/** The fields that were given as flags. Defaults are left to the schema, so that flags can go over
 *  another source, such as a file. */
export function readSchemaOptions<S extends z.ZodObject>(
  command: Command,
  schema: S,
): Partial<z.input<S>> {
  const given = Object.entries(command.opts()).filter(
    ([key]) => key in schema.shape && command.getOptionValueSource(key) === 'cli',
  );
  return Object.fromEntries(given) as Partial<z.input<S>>;
}

function makeOptions(command: Command, field: ConfigField): Option[] {
  const { description, default: standard } = field;
  const name = flagName(field.key);
  if (field.type === 'boolean') {
    const [shown, hidden] = standard === true ? [`no-${name}`, name] : [name, `no-${name}`];
    const text = standard === true ? `Turn off: ${lowerFirst(description)}` : description;
    return [new Option(`--${shown}`, text), new Option(`--${hidden}`).hideHelp()];
  }
  const option = new Option(`--${name} <${valueName(field)}>`, description);
  if (field.choices !== undefined) option.choices(field.choices);
  if (!Array.isArray(standard)) option.default(standard);
  return [option.argParser(makeParser(command, { field, flag: `--${name}` }))];
}

/** @example numKeyValueHeads  →  num-key-value-heads */
function flagName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function valueName({ type, choices, items }: ConfigField): string {
  if (choices !== undefined) return 'name';
  const single = items?.type ?? type;
  return single === 'string' ? 'text' : 'number';
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** Turns a flag's text into the field's value; texts of a list are gathered. */
function makeParser(
  command: Command,
  { field, flag }: { field: ConfigField; flag: string },
): (text: string, earlier: unknown) => unknown {
  const isList = field.items !== undefined;
  const { type, rule } = field.items ?? field;
  const parse = (text: string) => {
    const value = type === 'string' ? text : parseNumber(text);
    if (field.accepts(isList ? [value] : value)) return value;
    return command.error(`Cannot use ${flag}: it must be ${rule}, got ${JSON.stringify(text)}`);
  };
  return (text, earlier) =>
    isList ? [...((earlier ?? []) as readonly unknown[]), parse(text)] : parse(text);
}

/** Number() would take '' for 0 and '0x10' for 16. */
function parseNumber(text: string): number {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
}
