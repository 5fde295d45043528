import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseRewardSpec } from '../config/reward-spec.ts';
import type { RunConfig } from '../config/run-config.ts';
import { describeSystemError, hashFile, pathExists, writeAtomically } from '../fs/index.ts';
import { listImports } from '../reward-kl/list-imports.ts';

/** Environment variable with the folder of the records, instead of the one in the user's home. */
export const TRUST_VARIABLE = 'PROXIMAL_TRUST_FOLDER';

/** Environment variable with the token for reward servers. */
const TOKEN_VARIABLE = 'PROXIMAL_REWARD_TOKEN';

/** What names the code of a run. */
type CodeConfig = Pick<RunConfig, 'reward' | 'environment'>;

/** A reward file or environment and all files that it imports by path. */
interface RewardCode {
  /** The reward file comes first. */
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
  /** Exists if this user has run code at the reward file's path. */
  readonly folder: string;
  /** Exists if this user has run exactly this code there. */
  readonly record: string;
}

export interface TrustOptions {
  /** The run whose config names the rewards. */
  readonly run: string;
  /** Whether the user trusts code that they have not run before. */
  readonly trust: boolean;
  /** Whether the user accepts changes of code that they have run before. */
  readonly allowChanged: boolean;
}

/** Requires that the user has run the reward files of a run's config before, or trusts them: the run's
 *  folder may come from somebody else. Executes nothing. */
export async function expectTrustedRewards(
  config: CodeConfig,
  { run, trust, allowChanged }: TrustOptions,
): Promise<void> {
  if (trust) return;
  await expectKnownServers(config, run);
  const problems: string[] = [];
  for (const { files, folder, record } of await findRewardCode(config)) {
    if (await pathExists(record)) continue;
    const isChanged = await pathExists(folder);
    if (isChanged && allowChanged) continue;
    const [file, ...imports] = files.map(({ path }) => path);
    const all = imports.length === 0 ? file : `${file} with its imports ${imports.join(', ')}`;
    problems.push(`${all} (${isChanged ? 'changed since then' : 'never run by you'})`);
  }
  if (problems.length === 0) return;
  throw new Error(
    `Cannot run the rewards of ${run}: they must be code that you have run before, got ${problems.join(', ')}; read it, then pass --trust`,
  );
}

/** Requires that the user has sent their token to the reward servers of a run's config before. */
async function expectKnownServers(config: Pick<RunConfig, 'reward'>, run: string): Promise<void> {
  for (const { origin, record } of findServers(config)) {
    if (await pathExists(record)) continue;
    throw new Error(
      `Cannot use the rewards of ${run}: ${TOKEN_VARIABLE} must only be sent to servers that received it before, got ${origin}; pass --trust if you know it, or unset the variable`,
    );
  }
}

/** The servers that receive the user's token, if there is one: those whose URL has no credentials. */
function findServers({ reward }: Pick<RunConfig, 'reward'>) {
  if (!process.env[TOKEN_VARIABLE]) return [];
  const urls = reward
    .map(parseRewardSpec)
    .flatMap(({ kind, place }) => (kind === 'server' && URL.canParse(place) ? new URL(place) : []));
  return urls
    .filter(({ username, password }) => username + password === '')
    .map(({ origin }) => {
      return { origin, record: join(trustFolder(), 'servers', `${hashText(origin)}.json`) };
    });
}

/** Records that the user has run the reward files of a config and sent a token to its servers. Returns a warning if that is impossible,
 *  as without a home: the run continues, and resuming it needs consent. */
export async function recordTrustedRewards(config: CodeConfig): Promise<string[]> {
  try {
    for (const { files, record } of await findRewardCode(config)) {
      if (await pathExists(record)) continue;
      await mkdir(dirname(record), { recursive: true, mode: 0o700 });
      await writeAtomically(record, `${JSON.stringify(files, undefined, 2)}\n`, { mode: 0o600 });
    }
    for (const { origin, record } of findServers(config)) {
      if (await pathExists(record)) continue;
      await mkdir(dirname(record), { recursive: true, mode: 0o700 });
      await writeAtomically(record, `${JSON.stringify({ origin })}\n`, { mode: 0o600 });
    }
    return [];
  } catch (error) {
    const reason = describeSystemError(error);
    if (reason === undefined) throw error;
    return [
      `Resuming or evaluating this run will need --trust, because its rewards cannot be recorded. ${reason}`,
    ];
  }
}

/** The code that a config's rewards and environment execute. */
async function findRewardCode({ reward, environment }: CodeConfig): Promise<RewardCode[]> {
  const specs = reward.map(parseRewardSpec).filter(({ kind }) => kind === 'file');
  const places = [...specs.map(({ place }) => place), ...(environment ? [environment] : [])];
  return Promise.all(
    places.map(async (place) => {
      const file = resolve(place);
      const paths = await listImports(file);
      const files = await Promise.all(
        paths.map(async (path) => ({ path, sha256: await hashFile(path) })),
      );
      // A record is a file of its own, so that runs that start at the same time need no lock.
      const folder = join(trustFolder(), hashText(file));
      return { files, folder, record: join(folder, `${hashText(JSON.stringify(files))}.json`) };
    }),
  );
}

/** Never in a run's folder, which may come from somebody else. */
function trustFolder(): string {
  const { [TRUST_VARIABLE]: own, XDG_CONFIG_HOME: config } = process.env;
  return own || join(config || join(homedir(), '.config'), 'proximal', 'trusted-rewards');
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
