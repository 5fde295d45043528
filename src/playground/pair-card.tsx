import './pair-card.css';
import { useEffect, useRef } from 'preact/hooks';
import { TextBlock } from '../dashboard/client/samples/text-block.tsx';
import { useLatestShortcuts } from '../dashboard/client/shell/hooks.ts';
import type { PairChoice, PairQuestion, PairSource } from './pair-source.ts';

interface PairCardProps {
  readonly question: PairQuestion;
  readonly pairs: PairSource;
}

/** Asks which of two responses is better; the keys 1, 2 and 0 answer too. */
export function PairCard({ question, pairs }: PairCardProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const answer = (choice: PairChoice) => pairs.answer(choice);
  useLatestShortcuts({
    '1': () => answer('first'),
    '2': () => answer('second'),
    '0': () => answer('neither'),
  });
  // The next question is where the keyboard is.
  useEffect(() => heading.current!.focus({ preventScroll: true }), [question]);
  return (
    <section class="playground-card pair-card" aria-labelledby="pair-question">
      <h2 id="pair-question" ref={heading} tabIndex={-1}>
        Which summary is better?{' '}
        <span class="pair-count">{`${question.number} of ${question.total}`}</span>
      </h2>
      <TextBlock label="Post" text={question.prompt} />
      <div class="pair-responses">
        <Response title="First" sign="1" text={question.first} onChoose={() => answer('first')} />
        <Response
          title="Second"
          sign="2"
          text={question.second}
          onChoose={() => answer('second')}
        />
      </div>
      <button type="button" aria-keyshortcuts="0" onClick={() => answer('neither')}>
        Neither <kbd>0</kbd>
      </button>
    </section>
  );
}

interface ResponseProps {
  readonly title: string;
  readonly sign: string;
  readonly text: string;
  readonly onChoose: () => void;
}

function Response({ title, sign, text, onChoose }: ResponseProps) {
  return (
    <div class="pair-response">
      <p dir="auto">{text.trim() === '' ? <em>nothing</em> : text}</p>
      <button type="button" aria-keyshortcuts={sign} onClick={onChoose}>
        <span aria-hidden="true">👍 </span>
        {title} <kbd>{sign}</kbd>
      </button>
    </div>
  );
}
