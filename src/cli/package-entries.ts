import { extname } from 'node:path';

/** URLs of the package's entries by the names they are imported by, so that a user's reward file uses
 *  this copy of the package without installing it. */
export const packageEntries: Readonly<Record<string, string>> = {
  proximal: urlOf('index'),
  'proximal/engine': urlOf('engine/index'),
  'proximal/components': urlOf('components'),
};

/** The entries are next to this folder, as sources or built. */
function urlOf(entry: string): string {
  return new URL(`../${entry}${extname(import.meta.url)}`, import.meta.url).href;
}
