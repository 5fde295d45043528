import type { GenerationOptions } from '../generation/index.ts';
import type { PolicyModel } from '../models/policy-model.ts';
import type { ProgressCounter } from './evaluator-progress.ts';
import { type EvaluationPrompt, respond, type Scorer } from './evaluator-responses.ts';

/** The reference's response to a prompt. */
export interface RefResponse {
  readonly refResponse: string;
  readonly refScore: number;
}

interface AskOptions {
  readonly generation: GenerationOptions;
  readonly progress: ProgressCounter;
}

/** Greedy responses of the reference. It never changes, so each prompt is asked once, as long as
 *  the prompt's object lives; the decoder is freed in between. */
export class ReferenceResponses {
  private readonly reference: PolicyModel;
  private readonly scorer: Scorer;
  private readonly known = new WeakMap<EvaluationPrompt, RefResponse>();

  constructor(reference: PolicyModel, scorer: Scorer) {
    this.reference = reference;
    this.scorer = scorer;
  }

  /** Whether the answers to all prompts are at hand. */
  knows(prompts: readonly EvaluationPrompt[]): boolean {
    return prompts.every((prompt) => this.known.has(prompt));
  }

  async ask(prompts: readonly EvaluationPrompt[], options: AskOptions): Promise<RefResponse[]> {
    if (!this.knows(prompts)) await this.learn(prompts, options);
    return prompts.map((prompt) => this.known.get(prompt)!);
  }

  private async learn(prompts: readonly EvaluationPrompt[], options: AskOptions): Promise<void> {
    const { generator } = this.reference;
    try {
      const responses = await respond(prompts, { ...options, generator, scorer: this.scorer });
      for (const [i, prompt] of prompts.entries()) {
        this.known.set(prompt, {
          refResponse: responses.texts[i]!.text,
          refScore: responses.scores[i]!,
        });
      }
    } finally {
      await this.reference.dispose();
    }
  }
}
