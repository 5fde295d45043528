import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainSystemError, writeAtomically } from '../../fs/index.ts';
import { pageFolder } from '../build-page.ts';
import type { FoundRun } from '../server/runs/find-runs.ts';
import { collectReport } from './collect-report.ts';
import { embedReport, type Page } from './embed-report.ts';

export interface WriteReportOptions {
  /** The file of the report. */
  readonly path: string;
  /** Samples in it at most. */
  readonly samples: number;
}

export interface WrittenReport {
  readonly path: string;
  readonly bytes: number;
  readonly samples: number;
}

/** Writes a run as one file of HTML that can be opened anywhere. */
export async function writeReport(
  run: FoundRun,
  { path, samples }: WriteReportOptions,
): Promise<WrittenReport> {
  const data = await collectReport(run, { samples });
  const html = Buffer.from(embedReport(data, await readPage(await pageFolder())));
  try {
    await writeAtomically(path, html);
  } catch (error) {
    throw explainSystemError(error, { action: `write ${path}`, next: 'give the command again' });
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
