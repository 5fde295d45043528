import { open } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { ConfigError } from '../config/parse-config.ts';
import { shellQuote } from './format.ts';
import { parsePort } from './schema-options.ts';

/** The environment variable with the token of the dashboard. */
const TOKEN_VARIABLE = 'PROXIMAL_DASHBOARD_TOKEN';

/** Flags of a command that can show its runs on a dashboard. */
export interface DashboardFlags {
  /** The port, or true for any. */
  readonly dashboard?: number | true;
  readonly tokenFile?: string;
}

/** Adds the flags of a dashboard in the command's own process.
 *  @param about what the page shows, for the help */
export function addDashboardFlags(command: Command, about: string): Command {
  return addTokenFlags(command.option('--dashboard [port]', about, parsePort)).hook(
    'preAction',
    () => {
      const { dashboard, tokenFile } = command.opts<DashboardFlags>();
      if (tokenFile === undefined || dashboard !== undefined) return;
      throw new ConfigError(
        'Cannot use --token-file: it protects a dashboard, got none; add --dashboard or leave it out',
      );
    },
  );
}

/** Adds the flag of the dashboard's token. It names a file, because every user of a machine can see the
 *  arguments of all processes. */
export function addTokenFlags(command: Command): Command {
  const rejectToken = () => {
    throw new ConfigError(
      `Cannot use --token: other users of this machine could read it in the list of processes; write it to a file that only you can read and pass --token-file, or set ${TOKEN_VARIABLE}`,
    );
  };
  return command
    .option(
      '--token-file <file>',
      `File with the token that the dashboard requires; only you may have access to it; default: ${TOKEN_VARIABLE} of the environment`,
    )
    .addOption(new Option('--token <text>').hideHelp().argParser(rejectToken));
}

/** The token of the dashboard: the text in a file, or that of the environment; undefined if neither is set. */
export async function readToken(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return process.env[TOKEN_VARIABLE];
  const handle = await open(file);
  try {
    const { mode } = await handle.stat();
    // Windows has no such permissions.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new ConfigError(
        `Cannot use --token-file ${file}: only its owner may have access, got mode ${(mode & 0o777).toString(8)}; run "chmod 600 ${shellQuote(file)}"`,
      );
    }
    return (await handle.readFile('utf8')).trim();
  } finally {
    await handle.close();
  }
}
