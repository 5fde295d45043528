import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LabelQueue, LiveSource } from '../../api.ts';
import { KeyButton } from './key-button.tsx';
import type { LabelCommand } from './label-keys.ts';

interface LabellingDoneProps {
  readonly live: LiveSource;
  /** Undefined where the queue is gone. */
  readonly queue: LabelQueue | undefined;
  readonly act: (command: LabelCommand) => void;
  readonly onClose: () => void;
}

/** What comes after the last task. */
export function LabellingDone({ live, queue, act, onClose }: LabellingDoneProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), []);
  const isLive = queue?.live === true;
  return (
    <section class="label-done">
      <h3 ref={heading} tabIndex={-1}>
        {isLive ? 'All scored. Waiting for the run …' : 'Thank you: nothing is left to answer'}
      </h3>
      {isLive ? (
        <p>The run goes on. Its next responses appear here by themselves.</p>
      ) : (
        queue && <NextSteps live={live} queue={queue} />
      )}
      <div class="label-row">
        <button type="button" class="label-primary" onClick={onClose}>
          All queues
        </button>
        <KeyButton
          keys="U"
          title="Undo the last answer"
          isReady
          onPress={() => act({ type: 'undo' })}
        />
      </div>
    </section>
  );
}

function NextSteps({ live, queue }: { live: LiveSource; queue: LabelQueue }) {
  const scale = queue.kind === 'rating' ? ' --rating-min 1 --rating-max 5' : '';
  return (
    <>
      <p>
        {queue.answered} of {queue.total} tasks have an answer.
      </p>
      <ol>
        <li>
          <a href={live.exportUrl(queue.id)} download>
            Export the answers
          </a>{' '}
          as JSON Lines, such as <code>preferences.jsonl</code>.
        </li>
        <li>
          Train a reward model on them:{' '}
          <code>{`proximal reward --data preferences.jsonl${scale}`}</code>
        </li>
        <li>
          Let PPO follow it:{' '}
          <code>{'proximal train --prompts prompts.jsonl --reward model:<run>'}</code>
        </li>
      </ol>
    </>
  );
}
