/** Sizes of source files, and places that repeat each other's lines. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SourceFile {
  /** Relative to the checkout. */
  readonly path: string;
  readonly text: string;
}

/** Two places with the same lines: `path:first-last`. */
export type RepeatedPair = readonly [string, string];

const MIN_REPEATED_LINES = 6;

/** TypeScript files below a folder of a checkout, in the order of their paths. */
export function readSourceFiles(tree: string, folder: string): SourceFile[] {
  return readdirSync(join(tree, folder), { recursive: true, encoding: 'utf8' })
    .filter(
      (path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts') && !path.includes('node_modules'),
    )
    .sort()
    .map((path) => join(folder, path))
    .map((path) => ({ path, text: readFileSync(join(tree, path), 'utf8') }));
}

export function isTest({ path }: SourceFile): boolean {
  return /\.test\.tsx?$/.test(path);
}

export function countLines({ text }: SourceFile): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

interface Line {
  readonly number: number;
  readonly text: string;
}

/** Pairs of places that share six or more lines in a row. Imports, comments and blank lines are
 *  skipped, white space is normalised; each pair is as long as it can be. */
export function findRepeatedLines(files: readonly SourceFile[]): RepeatedPair[] {
  const codes = files.map((file) => ({ path: file.path, lines: codeLines(file.text) }));
  const starts = new Map<string, { file: number; line: number }[]>();
  codes.forEach(({ lines }, file) => {
    for (let line = 0; line + MIN_REPEATED_LINES <= lines.length; line++) {
      const key = textsOf(lines.slice(line, line + MIN_REPEATED_LINES)).join('\n');
      starts.set(key, [...(starts.get(key) ?? []), { file, line }]);
    }
  });
  const pairs: RepeatedPair[] = [];
  for (const places of starts.values()) {
    for (const [i, a] of places.entries()) {
      for (const b of places.slice(i + 1)) {
        const [first, second] = [codes[a.file]!, codes[b.file]!];
        // A run that starts earlier is counted there.
        if (first.lines[a.line - 1]?.text === second.lines[b.line - 1]?.text && a.line * b.line > 0)
          continue;
        const length = sharedLength(first.lines.slice(a.line), second.lines.slice(b.line));
        const overlaps = a.file === b.file && a.line + length > b.line;
        if (!overlaps)
          pairs.push([placeOf(first, a.line, length), placeOf(second, b.line, length)]);
      }
    }
  }
  return pairs;
}

function placeOf(
  { path, lines }: { path: string; lines: readonly Line[] },
  ...[start, length]: [number, number]
): string {
  return `${path}:${lines[start]!.number}-${lines[start + length - 1]!.number}`;
}

function sharedLength(a: readonly Line[], b: readonly Line[]): number {
  const end = a.findIndex(({ text }, i) => text !== b[i]?.text);
  return end < 0 ? a.length : end;
}

function textsOf(lines: readonly Line[]): string[] {
  return lines.map(({ text }) => text);
}

/** Lines without comments, imports and blank ones. Newlines are kept while removing, so numbers
 *  stay those of the file. */
function codeLines(text: string): Line[] {
  const blank = (part: string) => part.replaceAll(/[^\n]/g, '');
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, blank)
    .replaceAll(/^(import|export)\s[^;'"]*?\sfrom\s+['"][^'"]+['"];?$/gm, blank)
    .replaceAll(/^import\s+['"][^'"]+['"];?$/gm, blank)
    .split('\n')
    .map((line, i) => ({ number: i + 1, text: line.trim().replaceAll(/\s+/g, ' ') }))
    .filter((line) => line.text !== '' && !line.text.startsWith('//'));
}
