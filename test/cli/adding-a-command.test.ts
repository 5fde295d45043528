import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import { readDocument, root } from '../helpers/doc-snippets.ts';
import { makeTempFolder } from '../helpers/runtime-temp-folder.ts';
import { writeTinyTokenizer } from '../helpers/tiny-tokenizer.ts';

test('the command in docs/adding-a-command.md prints the tokens of a text', async () => {
  const [snippet] = readDocument('docs/adding-a-command.md').blocks('ts');
  const folder = makeTempFolder();
  const code = snippet!
    .replaceAll("from './", `from '${join(root, 'src/cli')}/`)
    .replaceAll("from '../", `from '${join(root, 'src')}/`)
    .replaceAll(
      /from '(commander|zod)'/g,
      (_, name) => `from '${import.meta.resolve(name as string)}'`,
    );
  const file = join(folder, 'tokens.ts');
  writeFileSync(file, code);
  writeTinyTokenizer(folder);
  writeFileSync(join(folder, 'config.json'), '{}');
  const { addTokens } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    addTokens: (command: Command) => void;
  };
  const output: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => output.push(String(text)) > 0);
  for (const extra of [[], ['--json', '--limit', '1']]) {
    const command = new Command('tokens');
    addTokens(command);
    const args = ['--model', folder, '--text', 'the cat', ...extra];
    await command.parseAsync(args, { from: 'user' });
  }
  vi.restoreAllMocks();
  expect(output).toEqual(['  3  "the"\n  5  "cat"\n', '[3]\n']);
});
