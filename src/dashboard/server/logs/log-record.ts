/** A line of a run's log. */
export type LogRecord = Readonly<Record<string, unknown>> & { readonly step: number };

/** The record in a line of JSON; undefined where there is none with a step. */
export function parseRecord(bytes: Buffer): LogRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { step } = value as { step?: unknown };
  return Number.isSafeInteger(step) ? (value as LogRecord) : undefined;
}
