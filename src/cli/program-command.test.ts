import { execSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeTempFolder } from '../../test/helpers/runtime-temp-folder.ts';
import { version } from '../version.ts';
import { programCommand } from './program-command.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A folder with the files that decide how to call the program. */
function makePackage(folder: string): string {
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{}');
  writeFileSync(join(folder, 'bin/proximal.mjs'), '');
  return realpathSync(folder);
}

describe('programCommand()', () => {
  test('is npx in a clone and its folders', () => {
    const clone = makePackage(join(makeTempFolder(), 'clone'));
    const inside = join(clone, 'examples/grpo');
    mkdirSync(inside, { recursive: true });
    for (const folder of [clone, inside]) {
      expect(programCommand({ root: clone, folder, path: [] })).toBe('npx proximal');
    }
  });

  test('is npx in a project that has it as a dependency', () => {
    const project = makeTempFolder();
    const own = makePackage(join(project, 'node_modules/proximal'));
    writeFileSync(join(project, 'package.json'), '{}');
    const inside = join(project, 'src');
    mkdirSync(inside);
    for (const folder of [project, inside]) {
      expect(programCommand({ root: own, folder, path: [] })).toBe('npx proximal');
    }
  });

  test('is npx if npx has fetched it', () => {
    const own = makePackage(join(makeTempFolder(), '_npx/1f/node_modules/proximal'));
    expect(programCommand({ root: own, folder: makeTempFolder(), path: [] })).toBe('npx proximal');
  });

  test('is the name if the path leads to it, except through a folder that npm adds', () => {
    const own = makePackage(join(makeTempFolder(), 'lib/node_modules/proximal'));
    const folder = makeTempFolder();
    for (const [place, command] of [
      ['bin', 'proximal'],
      ['.bin', `node ${own}/bin/proximal.mjs`],
    ] as const) {
      const path = join(folder, place);
      mkdirSync(path);
      symlinkSync(join(own, 'bin/proximal.mjs'), join(path, 'proximal'));
      expect(programCommand({ root: own, folder, path: [path] })).toBe(command);
    }
  });

  test('is its file anywhere else, also if another package is nearer', () => {
    const own = makePackage(join(makeTempFolder(), "it's here"));
    const other = join(own, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'package.json'), '{}');
    const command = `node '${own.replace("'", "'\\''")}/bin/proximal.mjs'`;
    for (const folder of [makeTempFolder(), other]) {
      expect(programCommand({ root: own, folder, path: [] })).toBe(command);
    }
  });

  test('returns a command that works in this clone and outside', () => {
    const elsewhere = makeTempFolder();
    for (const folder of [root, join(root, 'docs'), elsewhere]) {
      const command = programCommand({ folder });
      const options = { cwd: folder, encoding: 'utf8', stdio: 'pipe' } as const;
      expect(execSync(`${command} --version`, options), command).toBe(`${version}\n`);
    }
    expect(programCommand({ folder: root })).toBe('npx proximal');
    expect(programCommand({ folder: elsewhere })).toBe(`node ${root}bin/proximal.mjs`);
  }, 60_000);
});

/** A copy of the command without the package around it. */
class Copy {
  readonly folder = makeTempFolder();

  constructor(node: string) {
    cpSync(join(root, 'bin'), join(this.folder, 'bin'), { recursive: true });
    this.write('package.json', JSON.stringify({ engines: { node } }));
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  start(): string {
    const { stdout, stderr } = spawnSync(process.execPath, [join(this.folder, 'bin/proximal.mjs')]);
    return `${stdout}${stderr}`;
  }
}

describe('bin/proximal.mjs', () => {
  test('requires the Node version of package.json, before it imports anything', () => {
    expect(new Copy('>=99.1').start()).toBe(
      `Cannot start proximal: it requires Node 99.1 or newer, got ${process.versions.node}; install a newer Node\n`,
    );
  });

  test('starts the built program, or says what is missing', () => {
    const copy = new Copy('>=20.19');
    expect(copy.start()).toBe(
      'Cannot start proximal: the package must be built, got no dist folder; run "npm run build" and pack it again\n',
    );
    copy.write('src/cli/main.ts', '');
    expect(copy.start()).toBe(
      'Cannot start proximal: a clone must have its dependencies, got none; run "npm ci" in it\n',
    );
    copy.write('dist/cli/main.js', "console.log('built');\n");
    expect(copy.start()).toBe('built\n');
  });
});
