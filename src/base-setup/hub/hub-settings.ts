import { homedir } from 'node:os';
import { join } from 'node:path';
import { readTextIfExists } from '../../fs/index.ts';

export interface HubOptions {
  /** Where models are cached; `HF_HUB_CACHE`, else `HF_HOME`/hub, else ~/.cache/huggingface/hub. */
  readonly cacheDir?: string;
  /** Grants access to private and gated models; `HF_TOKEN`, else the token saved by `hf auth login`. */
  readonly token?: string;
  /** Use only the cache; `HF_HUB_OFFLINE` by default. */
  readonly offline?: boolean;
  /** URL of the hub; `HF_ENDPOINT`, else https://huggingface.co. */
  readonly endpoint?: string;
  /** Seconds to wait for the next byte from the hub; 30 by default. */
  readonly timeout?: number;
}

export interface HubSettings {
  readonly cacheDir: string;
  readonly token: string | undefined;
  readonly offline: boolean;
  readonly endpoint: string;
  readonly timeout: number;
}

/** Fills missing options from the environment variables that Hugging Face's clients read. */
export async function readHubSettings(options: HubOptions): Promise<HubSettings> {
  const { env } = process;
  const home = env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface');
  const endpoint = options.endpoint || env.HF_ENDPOINT || 'https://huggingface.co';
  if (!/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '')) {
    throw new TypeError(
      `Cannot reach the hub: the endpoint must be an http or https URL, got "${endpoint}"; correct HF_ENDPOINT`,
    );
  }
  return {
    cacheDir:
      options.cacheDir || env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE || join(home, 'hub'),
    token: options.token || env.HF_TOKEN || (await readSavedToken(home)),
    offline: options.offline ?? /^(1|on|yes|true)$/i.test(env.HF_HUB_OFFLINE ?? ''),
    endpoint: endpoint.replace(/\/+$/, ''),
    timeout: options.timeout ?? 30,
  };
}

async function readSavedToken(home: string): Promise<string | undefined> {
  const token = await readTextIfExists(process.env.HF_TOKEN_PATH || join(home, 'token'));
  return token?.trim() || undefined;
}

/** What Python's huggingface_hub accepts: `name` or `owner/name` of letters, digits, `-`, `_` and `.`. */
const modelId = /^(\b[\w\-.]+\b\/)?\b[\w\-.]{1,96}\b$/;

/** Rejects an id that the hub cannot have or that could escape the cache folder. */
export function checkModelId(id: string): void {
  if (!modelId.test(id) || /--|\.\./.test(id) || id.endsWith('.git')) {
    throw new TypeError(
      `Cannot find model "${id}": it must be an existing folder or a hub id such as "Qwen/Qwen3-0.6B"`,
    );
  }
}

/** Rejects a revision that could escape the cache folder. */
export function checkRevision(revision: string): void {
  if (!/^[\w\-.+/]+$/.test(revision) || /\.\.|^\/|\/$|\/\//.test(revision)) {
    throw new TypeError(
      `Cannot find revision "${revision}": it must be a branch, a tag or a commit, such as "main"`,
    );
  }
}

/** Whether a revision is a full commit hash, which always refers to the same files. */
export function isCommit(revision: string): boolean {
  return /^[0-9a-f]{40}$/.test(revision);
}
