import { homedir } from 'node:os';
import { join } from 'node:path';
import { readTextIfExists } from '../../fs/index.ts';

export interface HubOptions {
  /** Where models are cached; `HF_HUB_CACHE`, else `HF_HOME`/hub, else ~/.cache/huggingface/hub. */
  readonly cacheDir?: string;
  /** Opens private and gated models; `HF_TOKEN`, else what `hf auth login` saved. */
  readonly token?: string;
  /** Looks only in the cache; `HF_HUB_OFFLINE` by default. */
  readonly offline?: boolean;
  /** Where the hub answers; `HF_ENDPOINT`, else https://huggingface.co. */
  readonly endpoint?: string;
  /** The longest wait for the hub's next byte; 30 seconds by default. */
  readonly timeoutMs?: number;
}

export interface HubSettings {
  readonly cacheDir: string;
  readonly token: string | undefined;
  readonly offline: boolean;
  readonly endpoint: string;
  readonly timeoutMs: number;
}

/** Fills what the options leave open from the variables that Hugging Face's own clients read. */
export async function readHubSettings(options: HubOptions): Promise<HubSettings> {
  const { env } = process;
  const home = env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface');
  const endpoint = options.endpoint || env.HF_ENDPOINT || 'https://huggingface.co';
  if (!/^https?:$/.test(URL.canParse(endpoint) ? new URL(endpoint).protocol : '')) {
    throw new TypeError(
      `Cannot reach the hub: the endpoint must be an http or https address, got "${endpoint}"; correct HF_ENDPOINT`,
    );
  }
  return {
    cacheDir:
      options.cacheDir || env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE || join(home, 'hub'),
    token: options.token || env.HF_TOKEN || (await readSavedToken(home)),
    offline: options.offline ?? /^(1|on|yes|true)$/i.test(env.HF_HUB_OFFLINE ?? ''),
    endpoint: endpoint.replace(/\/+$/, ''),
    timeoutMs: options.timeoutMs ?? 30_000,
  };
}

async function readSavedToken(home: string): Promise<string | undefined> {
  const token = await readTextIfExists(process.env.HF_TOKEN_PATH || join(home, 'token'));
  return token?.trim() || undefined;
}
