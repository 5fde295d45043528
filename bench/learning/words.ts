import { randomStream } from '../../src/engine/random/index.ts';

const split = (words: string) => words.split(' ');

/** Words that express a mood. */
export const positive = split('good kind warm bright calm glad fair sweet');
export const negative = split('bad cruel cold dark harsh sad wrong bitter');

const others = split(
  'fox box wax ox lynx phlox onyx sphinx bird tree river stone house road boat cloud ' +
    'field song door lamp bread clock letter garden winter mountain window table ship king child day',
);

/** The model's whole vocabulary. */
export const vocabulary = [...positive, ...negative, ...others];

/** Ends every prompt, so that even a model that ignores positions can count the tokens of a response. */
export const MARK = ':';

const PROMPT_WORDS = 3;

/** Distinct three-word prompts: the first ones for validation, the rest for training. */
export function makePrompts(
  seed: number,
  { validation, training }: { validation: number; training: number },
): { validation: string[]; training: string[] } {
  const random = randomStream(seed, 'prompts');
  const prompts = new Set<string>();
  while (prompts.size < validation + training) {
    const word = () => vocabulary[random.integer(vocabulary.length)]!;
    prompts.add(`${Array.from({ length: PROMPT_WORDS }, word).join(' ')} ${MARK}`);
  }
  return {
    validation: [...prompts].slice(0, validation),
    training: [...prompts].slice(validation),
  };
}
