import { createContext, Script } from 'node:vm';

const context: { call?: () => void } = createContext({});
const script = new Script('call()');

interface TimeLimitOptions {
  /** Milliseconds. */
  readonly limit: number;
  /** Creates the error that is thrown after the limit. */
  readonly explain: () => Error;
}

/** Calls a function that may not return, such as the match of a regular expression from a file, and
 *  stops it after some time. The watchdog of `node:vm` stops whatever runs in this thread, so the
 *  function itself needs no other context. */
export function callWithin<T>(run: () => T, { limit, explain }: TimeLimitOptions): T {
  let result: { readonly value: T } | undefined;
  context.call = () => {
    result = { value: run() };
  };
  try {
    script.runInContext(context, { timeout: limit });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? explain() : cause;
  }
  return result!.value;
}
