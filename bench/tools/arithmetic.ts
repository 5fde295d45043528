import { z } from 'zod';
import type { PromptRecord } from '../../src/data/index.ts';
import { randomStream } from '../../src/engine/random/index.ts';
import { tools } from '../../src/environments/index.ts';
import type { ChatMessage } from '../../src/index.ts';
import type { LoadedModel } from '../../src/models/index.ts';
import type { LearnedText } from '../../src/training/index.ts';

/** A product that a tiny model cannot compute by itself. */
export interface Problem {
  readonly question: string;
  readonly answer: string;
}

/** All products of four digits of two numbers from 32 to 99, shuffled. */
export function makeProblems(seed: number): Problem[] {
  const numbers = Array.from({ length: 68 }, (_, i) => 32 + i);
  const problems = numbers.flatMap((a) =>
    numbers.map((b) => ({ question: `${a}*${b}`, answer: String(a * b) })),
  );
  return randomStream(seed, 'problems').shuffle(problems);
}

/** The calculator that the policy can call. */
const calculator = {
  description: 'Computes a product',
  inputSchema: z.object({ expression: z.string().regex(/^\d+\*\d+$/) }),
  execute: ({ expression }: { expression: string }) => {
    const [a = 0, b = 0] = expression.split('*').map(Number);
    return a * b;
  },
};

export const environment = tools({ calculator }, { maxTurns: 3 });

/** A conversation that uses the calculator, or one that guesses. */
function trace({ question, answer }: Problem, usesTool: boolean): ChatMessage[] {
  const user = { role: 'user', content: question };
  const last = { role: 'assistant', content: answer };
  if (!usesTool) return [user, last];
  const call = `<tool_call>{"name": "calculator", "arguments": {"expression": "${question}"}}</tool_call>`;
  return [user, { role: 'assistant', content: call }, { role: 'tool', content: answer }, last];
}

/** A problem as the start of an episode. */
export function toPrompt({ tokenizer }: LoadedModel, problem: Problem): PromptRecord {
  const messages = [{ role: 'user', content: problem.question }];
  const text = tokenizer.applyChatTemplate(messages, { addGenerationPrompt: true });
  const tokens = tokenizer.encode(text, { addSpecialTokens: false });
  return { text, tokens, messages, row: { answer: problem.answer } };
}

/** Demonstrations of which a quarter uses the tool; only the assistant's turns are learned. */
export function makeTraces(
  { tokenizer }: LoadedModel,
  problems: readonly Problem[],
): LearnedText[] {
  return problems.map((problem, i) => {
    const parts = trace(problem, i % 4 === 0).map((message) => ({
      ids: tokenizer.encode(tokenizer.applyChatTemplate([message]), { addSpecialTokens: false }),
      isLearned: message.role === 'assistant',
    }));
    const tokens = Int32Array.from(parts.flatMap(({ ids }) => [...ids]));
    // The first token of a turn is the template's.
    const mask = parts.flatMap(({ ids, isLearned }) =>
      Array.from(ids, (_, t) => isLearned && t > 0),
    );
    return { tokens, learned: Int32Array.from(mask.flatMap((isOn, t) => (isOn ? [t] : []))) };
  });
}
