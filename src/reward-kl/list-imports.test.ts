import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { listImports } from './list-imports.ts';

test('listImports() follows every kind of import by path, each file once', async () => {
  const folder = makeTempFolder();
  const at = (name: string) => join(folder, name);
  mkdirSync(at('lib'));
  const files = {
    'reward.ts': `import fs from 'node:fs';
import { PPOTrainer } from 'proximal';
import words from './words.json';
import './lib/effects.mjs';
export { weight } from "./lib";
const late = await import('./late.js');
import missing from './missing.ts';
export default () => 1;`,
    'words.json': '["a"]',
    'lib/effects.mjs': `import '../reward.ts';`,
    'lib/index.ts': `const deep = require('./deep');`,
    'lib/deep.ts': '',
    'late.ts': '',
    'unused.ts': '',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text);
  expect(await listImports(at('reward.ts'))).toEqual(
    ['reward.ts', 'late.ts', 'lib/deep.ts', 'lib/effects.mjs', 'lib/index.ts', 'words.json'].map(
      at,
    ),
  );
});
