import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { expectTrustedRewards, recordTrustedRewards, TRUST_VARIABLE } from './reward-trust.ts';

let folder: string;
let config: { readonly reward: string[] };
const at = (name: string) => join(folder, name);
const write = (name: string, text: string) => writeFileSync(at(name), text);
const expectTrusted = (options: { trust?: boolean; allowChanged?: boolean } = {}) =>
  expectTrustedRewards(config, { run: 'runs/a', trust: false, allowChanged: false, ...options });

beforeEach(() => {
  folder = makeTempFolder();
  vi.stubEnv(TRUST_VARIABLE, at('records'));
  onTestFinished(() => void vi.unstubAllEnvs());
  write('reward.ts', "import { word } from './words.ts';\nexport default () => word.length;");
  write('words.ts', "export const word = 'cat';");
  config = { reward: ['flesch', `mine=${at('reward.ts')}=0.5`, 'http://host/score'] };
});

describe('expectTrustedRewards()', () => {
  test('names code that the user has never run, and accepts it if it is trusted', async () => {
    await expect(expectTrusted({ allowChanged: true })).rejects.toThrow(
      new Error(
        `Cannot run the rewards of runs/a: they must be code that you have run before, got ${at('reward.ts')} with its imports ${at('words.ts')} (never run by you); read it, then pass --trust`,
      ),
    );
    await expectTrusted({ trust: true });
  });

  test('sends the token to no server that has not received it before', async () => {
    config = { reward: ['judge=http://host:8000/score', 'https://me:pass@other/score'] };
    vi.stubEnv('PROXIMAL_REWARD_TOKEN', '');
    await expectTrusted();
    vi.stubEnv('PROXIMAL_REWARD_TOKEN', 'secret');
    await expect(expectTrusted()).rejects.toThrow(
      new Error(
        'Cannot use the rewards of runs/a: PROXIMAL_REWARD_TOKEN must only be sent to servers that received it before, got http://host:8000; pass --trust if you know it, or unset the variable',
      ),
    );
    await expectTrusted({ trust: true });
    await recordTrustedRewards({ reward: ['http://host:8000/another'] });
    await expectTrusted();
  });

  test('accepts what the user has run, until the file or an import changes', async () => {
    expect(await recordTrustedRewards(config)).toEqual([]);
    await expectTrusted();
    write('words.ts', "export const word = 'dog';");
    await expect(expectTrusted()).rejects.toThrow('(changed since then); read it');
    await expectTrusted({ allowChanged: true });
    await recordTrustedRewards(config);
    await expectTrusted();
    // Each version that the user has run stays accepted.
    write('words.ts', "export const word = 'cat';");
    await expectTrusted();
  });

  test('does not accept the same text at another path, where imports are other files', async () => {
    await recordTrustedRewards(config);
    mkdirSync(at('other'));
    for (const name of ['reward.ts', 'words.ts']) {
      write(`other/${name}`, readFileSync(at(name), 'utf8'));
    }
    config = { reward: [at('other/reward.ts')] };
    await expect(expectTrusted()).rejects.toThrow('(never run by you)');
  });

  test('accepts rewards without files', async () => {
    config = { reward: ['flesch', 'http://host/score', 'human'] };
    await expectTrusted();
    expect(await recordTrustedRewards(config)).toEqual([]);
  });
});

describe('recordTrustedRewards()', () => {
  test('writes one file per version, for the user only', async () => {
    await recordTrustedRewards(config);
    await recordTrustedRewards(config);
    const [path] = readdirSync(at('records'));
    const [name, ...others] = readdirSync(at(`records/${path}`));
    expect(others).toEqual([]);
    const file = at(`records/${path}/${name}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([
      { path: at('reward.ts'), sha256: expect.stringMatching(/^[\da-f]{64}$/) },
      { path: at('words.ts'), sha256: expect.stringMatching(/^[\da-f]{64}$/) },
    ]);
  });

  test('is in the configuration folder of the user by default', async () => {
    vi.stubEnv(TRUST_VARIABLE, '');
    vi.stubEnv('XDG_CONFIG_HOME', at('config'));
    await recordTrustedRewards(config);
    expect(readdirSync(at('config/proximal/trusted-rewards'))).toHaveLength(1);
  });

  test('returns a warning if nothing can be written', async () => {
    write('records', 'a file');
    chmodSync(at('records'), 0o400);
    expect(await recordTrustedRewards(config)).toEqual([
      expect.stringMatching(
        /^Resuming or evaluating this run will need --trust, because its rewards cannot be recorded\. Cannot create .*records/,
      ),
    ]);
  });
});
