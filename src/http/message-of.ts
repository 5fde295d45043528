/** The message of anything thrown, on one line. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error && thrown.message !== '' ? thrown.message : String(thrown);
  return text.replace(/\s*\n\s*/g, ' ').trim();
}
