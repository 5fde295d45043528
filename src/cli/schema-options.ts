import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { type ConfigField, configFields } from '../config/config-fields.ts';
import { suggestValue } from '../config/parse-config.ts';
import { withoutSecrets } from '../http/index.ts';
import { flagName } from './flag-names.ts';

/** Adds a flag to a command per field of a flat schema. An invalid value ends the command with one sentence.
 *  @example hiddenSize: z.int().min(1).default(768).describe('Width')
 *    →  --hidden-size <number>  Width (default: 768)
 *  @example tie: z.boolean().default(true)  →  --no-tie, and --tie, which help does not show */
export function addSchemaOptions(command: Command, schema: z.ZodObject): Command {
  for (const field of configFields(schema)) {
    for (const option of optionsOf(command, field)) command.addOption(option);
  }
  return command;
}

/** Adds the flags of several schemas to a command, under headings, and `--model` for `modelName`. */
export function addGroupedOptions(
  command: Command,
  groups: Readonly<Record<string, z.ZodRawShape>>,
): void {
  for (const [heading, shape] of Object.entries(groups)) {
    command.optionsGroup(heading);
    addSchemaOptions(command, z.strictObject(shape));
  }
  const long = command.options.find((option) => option.long === '--model-name')!;
  long.hideHelp();
  const flag = new Option('--model <model>', long.description);
  const defaultModel: unknown = long.defaultValue;
  command.addOption(flag.helpGroup(Object.keys(groups)[0]!));
  if (defaultModel !== undefined) {
    flag.description += ` (default: ${JSON.stringify(defaultModel)})`;
  }
}

/** The fields that were passed as flags; `--model` is `modelName`. Defaults are left to the schema, so
 *  that flags can override another source, such as a file. */
export function readSchemaOptions<S extends z.ZodObject>(
  command: Command,
  schema: S,
): Partial<z.input<S>> {
  const options = command.opts<{ model?: string }>();
  const passed = Object.entries(options).filter(
    ([key]) => key in schema.shape && command.getOptionValueSource(key) === 'cli',
  );
  const { model } = options;
  const isAlias = model !== undefined && 'modelName' in schema.shape;
  return {
    ...(isAlias && { modelName: model }),
    ...Object.fromEntries(passed),
  } as Partial<z.input<S>>;
}

/** Parses a port number. */
export function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 0 to 65535.');
}

function optionsOf(command: Command, field: ConfigField): Option[] {
  const { description, default: defaultValue } = field;
  const name = flagName(field.key);
  if (field.type === 'boolean') {
    const isOn = defaultValue === true;
    const [shown, hidden] = isOn ? [`no-${name}`, name] : [name, `no-${name}`];
    const text = isOn ? `Turn off: ${lowerFirst(description)}` : description;
    return [new Option(`--${shown}`, text), new Option(`--${hidden}`).hideHelp()];
  }
  const option = new Option(`--${name} <${valueName(field)}>`, description);
  if (field.choices !== undefined) option.choices(field.choices);
  if (!Array.isArray(defaultValue)) option.default(defaultValue);
  return [option.argParser(valueParser(command, { field, flag: `--${name}` }))];
}

function valueName({ type, choices, items }: ConfigField): string {
  if (choices !== undefined) return 'name';
  const single = items?.type ?? type;
  return single === 'string' ? 'text' : 'number';
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** Parses a flag's text into the field's value. Repeated flags of a list field are collected. */
function valueParser(
  command: Command,
  { field, flag }: { field: ConfigField; flag: string },
): (text: string, earlier: unknown) => unknown {
  const isList = field.items !== undefined;
  const { type, rule } = field.items ?? field;
  const readText = (text: string) => {
    const value = field.hasEscapes ? unescapeText(text) : text;
    if (value !== undefined) return value;
    return command.error(
      `Cannot use ${flag}: a backslash must be followed by n, t or another backslash, got ${JSON.stringify(text)}; write \\\\ for a backslash`,
    );
  };
  const parse = (text: string) => {
    const value = type === 'string' ? readText(text) : parseNumber(text);
    if (field.accepts(isList ? [value] : value)) return value;
    return command.error(
      `Cannot use ${flag}: it must be ${rule}, got ${JSON.stringify(withoutSecrets(text))}${suggestValue(text, field.choices)}`,
    );
  };
  return (text, earlier) =>
    isList ? [...((earlier ?? []) as readonly unknown[]), parse(text)] : parse(text);
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', '\\': '\\' };

/** Text with its escape sequences replaced; undefined if a backslash does not start one.
 *  @example 'a\\nb' as typed, with a backslash and an n  →  two lines */
function unescapeText(text: string): string | undefined {
  if (/^(?:[^\\]|\\[nt\\])*$/.test(text)) {
    return text.replace(/\\(.)/g, (_, letter: string) => escapes[letter]!);
  }
  return undefined;
}

/** Number() would read '' as 0 and '0x10' as 16. */
function parseNumber(text: string): number {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
}

/** A whole number of at least 1 as a flag's value. */
export function parseCount(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number ≥ 1.');
}
