import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const layer = fileURLToPath(new URL('./fs-journal.ts', import.meta.url));

/** The compiled command line and the layer below its file operations. */
export interface Program {
  readonly main: string;
  readonly layer: string;
}

/** Compiles the program into a folder, so that its processes start fast and do not change while
 *  somebody edits the sources. */
export function buildProgram(folder: string): Program {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const project = join(repository, 'tsconfig.build.json');
  const flags = ['--noCheck', '--declaration', 'false', '--outDir', join(folder, 'dist')];
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', project, ...flags], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Cannot compile the program: ${stdout}`);
  for (const name of ['node_modules', 'embedded']) {
    symlinkSync(join(repository, name), join(folder, name));
  }
  copyFileSync(join(repository, 'package.json'), join(folder, 'package.json'));
  const { outputText } = ts.transpileModule(readFileSync(layer, 'utf8'), {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  writeFileSync(join(folder, 'fs-journal.js'), outputText);
  return { main: join(folder, 'dist/cli/main.js'), layer: join(folder, 'fs-journal.js') };
}
