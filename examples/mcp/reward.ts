import type { RewardSample } from 'proximal';

/** 1 for the exact answer, and a tenth for a call that works. */
export default ({ response, row, episode }: RewardSample) => {
  const calls = episode?.turns.flatMap((turn) => turn.calls) ?? [];
  const works = calls.some(({ error }) => error === undefined);
  return Number(response.includes(String(row?.answer))) + (works ? 0.1 : 0);
};
