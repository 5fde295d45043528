import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeByteLevelModel } from './byte-level-model.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** The sources of the package's entries by the names they are imported by. */
export const packageSources: Readonly<Record<string, string>> = {
  proximal: join(root, 'src/index.ts'),
  'proximal/engine': join(root, 'src/engine/index.ts'),
  'proximal/components': join(root, 'src/components.ts'),
};

/** A document of the repository. */
export function readDocument(path: string) {
  const text = readFileSync(join(root, path), 'utf8');
  /** Code blocks of a language, in order. */
  const blocks = (language: string) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, 'gm'))].map(
      ([, code]) => code!,
    );
  return { text, blocks };
}

/** A folder in which commands and snippets find a tiny model under the name that the docs use. */
export class SnippetFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'proximal-snippets-'));

  /** Fills Hugging Face's cache.
   *  @param model a folder with the model to use instead of a tiny one with random weights */
  async fillCache(model?: string): Promise<void> {
    const repository = join(this.path, 'hub', 'models--Qwen--Qwen3-0.6B-Base');
    const snapshot = join(repository, 'snapshots', 'a'.repeat(40));
    mkdirSync(join(repository, 'refs'), { recursive: true });
    writeFileSync(join(repository, 'refs', 'main'), 'a'.repeat(40));
    mkdirSync(snapshot, { recursive: true });
    if (model === undefined) await writeByteLevelModel(snapshot);
    else cpSync(model, snapshot, { recursive: true });
  }

  run(command: string, args: readonly string[], cwd = root) {
    const env = { ...process.env, HF_HOME: this.path, HF_HUB_OFFLINE: '1' };
    const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', env });
    return { status, stdout, stderr };
  }

  /** Runs a TypeScript snippet as printed, in this folder. */
  runSnippet(code: string) {
    const file = join(this.path, 'snippet.mts');
    const imports = code.replaceAll(/(?<=from )'(proximal[^']*)'/g, (_, name: string) => {
      return `'${packageSources[name]}'`;
    });
    writeFileSync(file, imports);
    const tsx = join(root, 'node_modules/tsx/dist/loader.mjs');
    return this.run(process.execPath, ['--import', tsx, file], this.path);
  }

  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}
