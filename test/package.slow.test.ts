import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { version } from '../src/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
const consumer = mkdtempSync(join(tmpdir(), 'proximal-package-'));
const tarball = join(consumer, `proximal-${version}.tgz`);

function run(cwd: string, command: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`);
  return stdout;
}
const inConsumer = (command: string, ...args: string[]) => run(consumer, command, ...args);

describe('the packed package, installed in an empty project', { timeout: 180_000 }, () => {
  beforeAll(() => {
    run(root, 'npm', 'pack', '--ignore-scripts=false', '--pack-destination', consumer);
    writeFileSync(join(consumer, 'package.json'), '{ "private": true, "type": "module" }');
    inConsumer('npm', 'install', tarball, '--prefer-offline', '--ignore-scripts');
  }, 180_000);

  afterAll(() => rmSync(consumer, { recursive: true }), 60_000);

  test('can be imported', () => {
    const script = "import { version } from 'proximal'; console.log(version);";
    expect(inConsumer('node', '--input-type=module', '--eval', script)).toBe(`${version}\n`);
  });

  test('has the entries proximal/engine and proximal/components', () => {
    const script = `
      import { tensor } from 'proximal/engine';
      import { gaeAdvantages } from 'proximal/components';
      console.log(tensor(Float32Array.of(1, 2), [2]).shape, typeof gaeAdvantages);`;
    expect(inConsumer('node', '--input-type=module', '--eval', script)).toBe('[ 2 ] function\n');
  });

  test('does not export its other files', () => {
    const script = "await import('proximal/dist/embedded/embedded-files.js')";
    expect(() => inConsumer('node', '--input-type=module', '--eval', script)).toThrow(
      'ERR_PACKAGE_PATH_NOT_EXPORTED',
    );
  });

  test('has a command that prints its usage', () => {
    expect(inConsumer('npx', 'proximal', '--help')).toMatch(/^Usage: proximal/);
  });

  test('has types that a strict nodenext consumer compiles against', () => {
    const compile = (source: string) => {
      writeFileSync(join(consumer, 'consumer.ts'), source);
      return inConsumer('node', tsc, '--noEmit', '--strict', '--module', 'nodenext', 'consumer.ts');
    };
    compile(`import { version } from 'proximal';
      import type { Rollout } from 'proximal/components';
      import type { Tensor } from 'proximal/engine';
      export const v: string = version;
      export type RolloutAndTensor = [Rollout, Tensor<'float32'>];`);
    expect(() =>
      compile("import { version } from 'proximal'; export const v: number = version;"),
    ).toThrow("Type 'string' is not assignable to type 'number'");
  });

  test('has no packaging problem that publint reports', async () => {
    const { buffer, byteOffset, byteLength } = readFileSync(tarball);
    const packed = buffer.slice(byteOffset, byteOffset + byteLength);
    const { messages } = await publint({ pack: { tarball: packed as ArrayBuffer }, strict: true });
    // Bundlers replace one inner file for browsers, which conditions of exports cannot express.
    const problems = messages.filter(({ code }) => code !== 'USE_EXPORTS_OR_IMPORTS_BROWSER');
    expect(problems).toEqual([]);
  });
});
