import { type Command, Option } from 'commander';
import { z } from 'zod';
import { readPort } from './dashboard.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';

/** Flags of a command with runs that are no keys of a config. */
export interface RunFlags {
  readonly config?: string;
  readonly resume?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  /** The port, or true for any. */
  readonly dashboard?: number | true;
}

/** What helps say of how runs end. */
export const runEnds = `Ctrl-C ends the run in order, so that --resume goes on exactly; a second Ctrl-C ends it at once.
Exit codes: 0 done, 1 failed, 2 wrong flags or config, 130 interrupted.`;

/** Gives a command all that runs have, and a flag for each key of its config, under headings. */
export function addRunFlags(
  command: Command,
  groups: Readonly<Record<string, z.ZodRawShape>>,
): void {
  command
    .option('--config <file>', 'Config file: .yaml, .json, .ts or .js with the keys of the flags')
    .option('--resume <folder>', 'Go on with the run in this folder, as it began')
    .option('--dry-run', 'Show what the run would be, and train nothing')
    .option('--json', 'Print each event as a line of JSON')
    .option(
      '--dashboard [port]',
      'Show the run on a local web page until it ends, with those beside it; see proximal dashboard',
      readPort,
    );
  for (const [heading, shape] of Object.entries(groups)) {
    command.optionsGroup(heading);
    addSchemaOptions(command, z.strictObject(shape));
  }
  addModelFlag(command, Object.keys(groups)[0]!);
}

/** The keys of a config that were given as flags. */
export function readRunFlags<S extends z.ZodObject>(
  command: Command,
  schema: S,
): Partial<z.input<S>> {
  const given = readSchemaOptions(command, schema);
  const { model } = command.opts<{ model?: string }>();
  return model === undefined ? given : { modelName: model, ...given };
}

/** Gives a command `--model`, as others have, for what configs call `modelName`. */
export function addModelFlag(command: Command, heading: string): void {
  const long = command.options.find((option) => option.long === '--model-name')!;
  long.hideHelp();
  const flag = new Option('--model <model>', long.description);
  const standard: unknown = long.defaultValue;
  command.addOption(flag.helpGroup(heading));
  if (standard !== undefined) flag.description += ` (default: ${JSON.stringify(standard)})`;
}
