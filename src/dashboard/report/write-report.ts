import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainSystemError, writeAtomically } from '../../fs/index.ts';
import type { ReportData } from '../api.ts';
import { pageFolder } from '../build-page.ts';
import type { FoundRun } from '../server/runs/find-runs.ts';
import { collectReport } from './collect-report.ts';

export interface WriteReportOptions {
  /** The file of the report. */
  readonly path: string;
  /** Maximum number of samples. */
  readonly samples: number;
}

export interface WrittenReport {
  readonly path: string;
  readonly bytes: number;
  readonly samples: number;
}

/** Writes a run as one HTML file that opens anywhere. */
export async function writeReport(
  run: FoundRun,
  { path, samples }: WriteReportOptions,
): Promise<WrittenReport> {
  const data = await collectReport(run, { samples });
  const html = Buffer.from(embedReport(data, await readPage(await pageFolder())));
  try {
    await writeAtomically(path, html);
  } catch (error) {
    throw explainSystemError(error, { action: `write ${path}`, next: 'run the command again' });
  }
  return { path, bytes: html.length, samples: data.samples.length };
}

async function readPage(folder: string): Promise<Page> {
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  return {
    script: await read('page.js'),
    style: await read('page.css'),
    icon: await read('favicon.svg'),
  };
}

/** The built page. */
export interface Page {
  /** A script without imports. */
  readonly script: string;
  readonly style: string;
  /** SVG */
  readonly icon: string;
}

/** A report as one self-contained HTML file. Its policy allows only its own script and style, by their
 *  hashes, so nothing in the data can run. */
export function embedReport(data: ReportData, page: Page): string {
  const script = escapeEnd(page.script, 'script');
  const style = escapeEnd(page.style, 'style');
  const icon = `data:image/svg+xml;base64,${Buffer.from(page.icon).toString('base64')}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf({ script, style })}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeText(data.run.name)} · Proximal</title>
<link rel="icon" type="image/svg+xml" href="${icon}">
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This report needs JavaScript to draw its charts.</noscript>
<script type="application/json" id="proximal-report">${toScriptJson(data)}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** JSON that is safe inside a script element: no text ends the element or starts a comment.
 *  @example '</script>'  →  '"\\u003c/script>"' */
export function toScriptJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function policyOf({ script, style }: Pick<Page, 'script' | 'style'>): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** Escapes sequences that would end the element; in string literals the meaning is unchanged. */
function escapeEnd(code: string, element: 'script' | 'style'): string {
  const end = new RegExp(`<(/${element}|!--)`, 'gi');
  return code.replace(end, '<\\$1');
}

function escapeText(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
