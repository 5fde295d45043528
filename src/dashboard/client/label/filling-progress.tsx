import type { FillingQueue } from '../../api.ts';
import { ProgressBar } from './progress-bar.tsx';

/** How far a model is that fills a queue, for whoever waits for it. */
export function FillingProgress({ queue }: { queue: FillingQueue | null }) {
  if (queue === null) return null;
  const { name, done, total } = queue;
  return (
    <div class="label-filling">
      <ProgressBar label={`Filling ${name}`} value={done} total={total} />
      <span>
        A model fills <strong dir="auto">{name}</strong>: {done} of {total} prompts answered
      </span>
    </div>
  );
}
