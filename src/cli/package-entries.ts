import * as components from '../components.ts';
import * as engine from '../engine/index.ts';
import * as proximal from '../index.ts';

/** The package's entries by the names they are imported by, so that a user's reward file shares this
 *  copy of the package. */
export const packageEntries: Readonly<Record<string, unknown>> = {
  proximal,
  'proximal/engine': engine,
  'proximal/components': components,
};
