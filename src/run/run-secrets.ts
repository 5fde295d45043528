import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutRewardSecrets } from '../config/reward-spec.ts';
import { noQueue, type RunConfig } from '../config/run-config.ts';
import { parseJsonObject, readOwnText, writeAtomically } from '../fs/index.ts';
import { withoutPassword, withoutSecrets } from '../http/index.ts';

/** The file of a run with the settings that contain secrets; only its owner can read it. */
export const secretsName = 'secrets.json';

/** Settings that contain secrets: rewards and rollouts whose URLs have credentials or a query. */
type Secrets = Partial<Pick<RunConfig, 'reward' | 'rollouts'>>;

/** A config as it is shown and saved: URLs have no credentials and queries. The queue's user stays. */
export function withoutConfigSecrets<C extends RunConfig>(config: C): C {
  const { reward, rollouts, queue } = config;
  return {
    ...config,
    reward: reward.map(withoutRewardSecrets),
    ...(rollouts !== undefined && { rollouts: withoutSecrets(rollouts) }),
    ...(queue !== undefined && queue !== noQueue && { queue: withoutPassword(queue) }),
  };
}

/** Saves the settings that a run needs to resume and that its config must not show. The password of a
 *  queue is never saved. */
export async function writeSecrets(run: string, config: RunConfig): Promise<void> {
  const shown = withoutConfigSecrets(config);
  const { reward, rollouts } = config;
  const secrets: Secrets = {
    ...(reward.some((text, i) => text !== shown.reward[i]) && { reward }),
    ...(rollouts !== shown.rollouts && { rollouts }),
  };
  const file = join(run, secretsName);
  if (Object.keys(secrets).length === 0) return rm(file, { force: true });
  await writeAtomically(file, `${JSON.stringify(secrets, undefined, 2)}\n`, { mode: 0o600 });
}

/** The settings of a run that contain secrets; none if the file was removed. */
export async function readSecrets(run: string): Promise<Secrets> {
  const file = join(run, secretsName);
  const text = await readOwnText(file);
  return text === undefined ? {} : parseJsonObject(text, file);
}
