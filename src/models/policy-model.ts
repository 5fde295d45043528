import type { Tokenizer } from '../base-setup/tokenizer/index.ts';
import type { Prompt } from '../generation/create-sequences.ts';
import type { RolloutPrecision } from '../generation/decode-weights.ts';
import type { GenerationOptions } from '../generation/generation-options.ts';
import { Generator } from '../generation/generator.ts';
import type { GeneratedText } from '../generation/sequence.ts';
import type { RoleOptions } from './role-model.ts';
import { SFTModel } from './sft-model.ts';

/** The model and tokenizer of a policy, and how it generates. */
export interface PolicyOptions extends RoleOptions {
  readonly tokenizer: Tokenizer;
  readonly precision?: RolloutPrecision;
  /** Number of texts generated together; chosen by `Generator` if missing. */
  readonly batchSize?: number | undefined;
}

/** The model that PPO trains. */
export class PolicyModel extends SFTModel {
  readonly generator: Generator;

  constructor(options: PolicyOptions) {
    super(options);
    this.generator = new Generator(options);
  }

  /** Generates with the current policy: the next call sees changes of the adapter. */
  generate(prompts: readonly Prompt[], options: GenerationOptions = {}): Promise<GeneratedText[]> {
    return this.generator.generate(prompts, options);
  }

  /** Frees the decoder's session. */
  async dispose(): Promise<void> {
    await this.generator.dispose();
  }
}
