import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runInProcess } from '../../test/helpers/run-cli.ts';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { embeddedFolder } from '../embedded/embedded-files.ts';
import { readConfig } from '../models/decoder/load-model.ts';

const shape = '--vocab-size 300 --hidden-size 8 --num-layers 1 --num-attention-heads 2'.split(' ');

describe('proximal init', () => {
  test('without a tokenizer says what is missing and how to get it', async () => {
    const folder = join(makeTempFolder(), 'model');
    const { status, stdout } = await runInProcess('init', '--out', folder, ...shape);
    expect(status).toBe(0);
    expect(stdout).toContain('It has no tokenizer, which generating and training need.');
    expect(stdout).toContain(
      `Copy tokenizer.json and\ntokenizer_config.json of another model into ${folder}`,
    );
    expect(stdout).toContain('--tokenizer <folder>');
    expect(readdirSync(folder)).not.toContain('tokenizer.json');
  });

  test('with a tokenizer copies it and takes its vocabulary; --output is --out', async () => {
    const folder = join(makeTempFolder(), 'model');
    const args = ['--output', folder, '--tokenizer', embeddedFolder, ...shape.slice(2)];
    const { stdout } = await runInProcess('init', ...args);
    expect(stdout).toMatch(
      /^Created a qwen3 model with random weights in \S+: .* parameters, .*\n$/,
    );
    expect(readdirSync(folder)).toContain('tokenizer.json');
  });

  test('writes the dropout that training applies', async () => {
    const folder = join(makeTempFolder(), 'model');
    await runInProcess('init', '--out', folder, ...shape, '--dropout', '0.2');
    const json = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
    expect(json).toMatchObject({ embd_pdrop: 0.2, resid_pdrop: 0.2, attention_dropout: 0.2 });
    expect((await readConfig(folder)).config).toMatchObject({ embd_pdrop: 0.2, resid_pdrop: 0.2 });
  });
});
