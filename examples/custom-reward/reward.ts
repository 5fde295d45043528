import type { RewardSample } from 'proximal';

const wordsOf = (text: string) => text.toLowerCase().match(/\p{L}+/gu) ?? [];

/** Fraction of the response's words with at most six letters. */
function plain({ response }: RewardSample): number {
  const words = wordsOf(response);
  return words.length === 0 ? 0 : words.filter(({ length }) => length <= 6).length / words.length;
}

/** Fraction of the question's longer words that occur in the response. */
function onTopic({ row, response }: RewardSample): number {
  const topics = wordsOf(String(row?.text)).filter(({ length }) => length > 3);
  const words = new Set(wordsOf(response));
  return topics.filter((topic) => words.has(topic)).length / Math.max(1, topics.length);
}

export default { plain, onTopic: { source: onTopic, weight: 0.5 } };
