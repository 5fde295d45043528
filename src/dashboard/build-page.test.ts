import { writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { buildPage, pageFolder } from './build-page.ts';

const files = ['favicon.svg', 'index.html', 'page.css', 'page.js'];

describe('buildPage()', () => {
  test('writes only the page into the folder', async () => {
    const folder = makeTempFolder();
    writeFileSync(join(folder, 'old.js'), '');
    await buildPage(folder);
    expect((await readdir(folder)).sort()).toEqual(files);
  }, 60_000);
});

describe('pageFolder()', () => {
  test('concurrent calls return the same complete page', async () => {
    const [folder, other] = await Promise.all([pageFolder(), pageFolder()]);
    expect(other).toBe(folder);
    expect((await readdir(folder)).sort()).toEqual(files);
  }, 60_000);

  test('the HTML has no inline script and loads nothing from elsewhere', async () => {
    const folder = await pageFolder();
    const html = await readFile(join(folder, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<script(?![^>]* src="\.\/page\.js")/);
    expect(html).not.toMatch(/<style|\son\w+=|style=/);
    expect(html).not.toMatch(/(src|href)="(?!\.\/)/);
    const css = await readFile(join(folder, 'page.css'), 'utf8');
    expect(css).not.toMatch(/@import|url\(/);
  }, 60_000);

  test('the script can be embedded in a page', async () => {
    const script = await readFile(join(await pageFolder(), 'page.js'), 'utf8');
    expect(script).not.toMatch(/<\/script|<!--/i);
    expect(script).not.toMatch(/^\s*(import|export)[\s{*]/m);
    expect(() => new Function(script)).not.toThrow();
  }, 60_000);
});
