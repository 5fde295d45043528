import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempFolder } from '../../../../test/helpers/runtime-temp-folder.ts';
import { findInside, fromHere } from './find-source.ts';

/** A root with a file in it, and a file outside. */
function makePlaces() {
  const folder = makeTempFolder();
  const root = join(folder, 'root');
  mkdirSync(join(root, 'sub'), { recursive: true });
  mkdirSync(join(folder, 'root-2'));
  for (const name of ['root/sub/in.jsonl', 'out.jsonl', 'root-2/out.jsonl']) {
    writeFileSync(join(folder, name), '{}');
  }
  return { folder, root };
}

const outside = /^Cannot use .*: it must be in the folder where the dashboard was started/;

describe('findInside()', () => {
  it('finds files in a root and reports missing ones as undefined', async () => {
    const { root } = makePlaces();
    const file = join(root, 'sub/in.jsonl');
    expect(await findInside(file, [root])).toBe(realpathSync(file));
    expect(await findInside(join(root, 'sub/../sub/in.jsonl'), [root])).toBe(realpathSync(file));
    expect(await findInside(join(root, 'none.jsonl'), [root])).toBeUndefined();
    expect(await findInside(join(root, 'sub/in.jsonl/x'), [root])).toBeUndefined();
  });

  it.each(['../out.jsonl', 'sub/../../out.jsonl', '../root-2/out.jsonl', '../none.jsonl', '..'])(
    'rejects %s, existing or not',
    async (way) => {
      const { root } = makePlaces();
      await expect(findInside(`${root}/${way}`, [root])).rejects.toThrow(outside);
    },
  );

  it('rejects links that lead outside, of files and of folders', async () => {
    const { folder, root } = makePlaces();
    symlinkSync(join(folder, 'out.jsonl'), join(root, 'link.jsonl'));
    symlinkSync(folder, join(root, 'up'));
    await expect(findInside(join(root, 'link.jsonl'), [root])).rejects.toThrow(outside);
    await expect(findInside(join(root, 'up/out.jsonl'), [root])).rejects.toThrow(outside);
  });

  it('follows links that stay inside, and a root that is a link', async () => {
    const { folder, root } = makePlaces();
    symlinkSync(join(root, 'sub/in.jsonl'), join(root, 'link.jsonl'));
    symlinkSync(root, join(folder, 'also'));
    const file = realpathSync(join(root, 'sub/in.jsonl'));
    expect(await findInside(join(root, 'link.jsonl'), [root])).toBe(file);
    expect(await findInside(join(folder, 'also/link.jsonl'), [join(folder, 'also')])).toBe(file);
  });

  it('rejects system paths', async () => {
    const { root } = makePlaces();
    await expect(findInside('/etc/passwd', [root])).rejects.toThrow(outside);
  });

  it('finds any file if there are no roots', async () => {
    const { folder } = makePlaces();
    const file = join(folder, 'out.jsonl');
    expect(await findInside(file, undefined)).toBe(realpathSync(file));
  });
});

it('fromHere() shortens only paths in the working directory', () => {
  expect(fromHere(join(process.cwd(), 'a/b.jsonl'))).toBe('a/b.jsonl');
  expect(fromHere(process.cwd())).toBe(process.cwd());
  expect(fromHere('/elsewhere/b.jsonl')).toBe('/elsewhere/b.jsonl');
});
