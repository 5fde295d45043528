import { extname, isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createJiti } from 'jiti';
import { readRegularText } from '../fs/index.ts';

/** A module's name after `from`, `import` or `require`. Names in comments may match too: an import too
 *  many is harmless. */
const moduleName = /\b(?:from|import|require)\s*\(?\s*(['"`])([^'"`\n]+)\1/g;

const hasCode = (file: string) => /^\.[cm]?[jt]sx?$/.test(extname(file));

/** A program's file and all files that it imports by path, directly or through others, sorted after the
 *  first. Installed packages and names that are computed at run time are not followed.
 *  @example reward.ts with `import { words } from './words.ts'`  →  [/p/reward.ts, /p/words.ts] */
export async function listImports(file: string): Promise<string[]> {
  const found = new Set<string>();
  const visit = async (path: string): Promise<void> => {
    if (found.has(path)) return;
    found.add(path);
    if (!hasCode(path)) return;
    const names = [...(await readRegularText(path)).matchAll(moduleName)].map(
      ([, , name]) => name!,
    );
    for (const name of names.filter(isPath)) {
      const target = resolveImport(name, path);
      if (target !== undefined) await visit(target);
    }
  };
  await visit(file);
  return [file, ...[...found].filter((path) => path !== file).sort()];
}

function isPath(name: string): boolean {
  return /^\.{1,2}\//.test(name) || name.startsWith('file:') || isAbsolute(name);
}

/** The file that an import refers to, as jiti finds it; undefined if there is none. */
function resolveImport(name: string, importer: string): string | undefined {
  const url = createJiti(importer, { fsCache: false }).esmResolve(name, { try: true });
  if (url === undefined) return undefined;
  return url.startsWith('file:') ? fileURLToPath(url) : url;
}
