import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageSources, readDocument, root, SnippetFolder } from './doc-snippets.ts';

/** A folder like the root of this repository in which the examples run unchanged: a tiny model is
 *  cached under the name of their model, and `proximal` runs from source. */
export class ExampleProject {
  private readonly folder = new SnippetFolder();
  readonly path = this.folder.path;

  async fill(): Promise<void> {
    await this.folder.fillCache();
    cpSync(join(root, 'examples'), join(this.path, 'examples'), {
      recursive: true,
      // Files that earlier runs of the examples left behind.
      filter: (path) => !/[\\/](runs|data)$/.test(path),
    });
    for (const name of ['src', 'node_modules', 'embedded']) {
      symlinkSync(join(root, name), join(this.path, name));
    }
    const paths = Object.fromEntries(
      Object.entries(packageSources).map(([name, path]) => [name, [path]]),
    );
    const compilerOptions = { paths };
    writeFileSync(join(this.path, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    writeFileSync(join(this.path, 'package.json'), '{ "type": "module" }');
  }

  /** Puts a dataset into Hugging Face's cache, as one file of rows. */
  cacheDataset(id: string, rows: readonly object[]): void {
    const repository = join(this.path, 'hub', `datasets--${id.replace('/', '--')}`);
    const snapshot = join(repository, 'snapshots', 'b'.repeat(40));
    for (const part of [join(repository, 'refs'), snapshot]) mkdirSync(part, { recursive: true });
    writeFileSync(join(repository, 'refs', 'main'), 'b'.repeat(40));
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    writeFileSync(join(snapshot, 'train.jsonl'), lines);
  }

  /** Runs a code file or a command of a README with additional flags; returns its output. */
  run(line: string, ...flags: string[]): string {
    const [, command, ...rest] = line.split(' ');
    const args = command === 'proximal' ? ['src/cli/main.ts', ...rest] : rest;
    const result = this.folder.run(
      process.execPath,
      ['--import', 'tsx', ...args, ...flags],
      this.path,
    );
    if (result.status === 0) return result.stdout;
    throw new Error(`${line} ended with ${result.status}:\n${result.stderr}`);
  }

  remove(): void {
    this.folder.remove();
  }
}

/** The commands of an example's README. */
export function commandsOf(example: string): string[] {
  const { blocks } = readDocument(`examples/${example}/README.md`);
  return blocks('sh').flatMap((block) => block.trimEnd().split('\n'));
}
