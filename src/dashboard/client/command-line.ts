/** Where the server says how to call the program; a report does not have it. */
const selector = 'meta[name="proximal-program"]';

/** A command line that works in the folder where the dashboard was started.
 *  @example 'train' in a clone  →  'npx proximal train' */
export function commandLine(args: string): string {
  const program = globalThis.document?.querySelector(selector)?.getAttribute('content');
  return `${program ?? 'proximal'} ${args}`;
}
