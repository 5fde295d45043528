import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The path of the browser: PROXIMAL_BROWSER, else one on the PATH. */
export function findBrowser(): string | undefined {
  const given = process.env.PROXIMAL_BROWSER;
  if (given !== undefined && given !== '') return given;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
