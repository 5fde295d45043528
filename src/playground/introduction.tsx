import { TextBlock } from '../dashboard/client/samples/text-block.tsx';
import type { PlaygroundState } from './playground-state.ts';

/** What the page does, and what the model writes before any training. */
export function Introduction({ state }: { state: PlaygroundState }) {
  const untrained = state.untrained.value;
  return (
    <section class="playground-card" aria-labelledby="introduction">
      <h2 id="introduction">Train a language model in this tab</h2>
      <p>
        A small model that summarises forum posts runs here, in your browser: nothing is installed,
        and nothing leaves the page. Choose what to reward and press Start. PPO samples summaries,
        scores them and updates a LoRA adapter, a few steps per minute, and the charts and samples
        show what changes. β holds the model close to where it started.
      </p>
      {untrained.length > 0 && <h3>What it writes before training</h3>}
      {untrained.map(({ prompt, text }) => (
        <div key={prompt} class="playground-untrained">
          <TextBlock label="Post" text={prompt} />
          <p dir="auto">
            <span aria-hidden="true">→ </span>
            {text.text.trim() === '' ? <em>nothing</em> : text.text}
          </p>
        </div>
      ))}
    </section>
  );
}
