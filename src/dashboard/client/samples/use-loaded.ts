import { useEffect, useState } from 'preact/hooks';

/** What has come of a request. */
export interface Loaded<T> {
  /** The latest answer; that of an earlier key stays until the next has come. */
  readonly value: T | undefined;
  /** Why the latest request failed. */
  readonly error: string | undefined;
  readonly busy: boolean;
}

/** Asks again whenever the key changes; answers to earlier keys are dropped. */
export function useLoaded<T>(key: string, load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ value: undefined, error: undefined, busy: true });
  useEffect(() => {
    let isCurrent = true;
    setState(({ value }) => ({ value, error: undefined, busy: true }));
    load().then(
      (value) => isCurrent && setState({ value, error: undefined, busy: false }),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : String(error);
        if (isCurrent) setState({ value: undefined, error: message, busy: false });
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [key]);
  return state;
}
