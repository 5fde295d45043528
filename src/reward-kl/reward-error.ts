/** A reward source did not give what it must. Its message is one sentence that names the source. */
export class RewardError extends Error {
  override readonly name = 'RewardError';
}

/** What was thrown, in one line. */
export function messageOf(thrown: unknown): string {
  const text = thrown instanceof Error && thrown.message !== '' ? thrown.message : String(thrown);
  return text.replace(/\s*\n\s*/g, ' ').trim();
}
