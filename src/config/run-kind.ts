import type { z } from 'zod';

/** What every run's config has. */
export interface AnyRunConfig {
  readonly modelName: string;
  readonly revision?: string | undefined;
  readonly output?: string | undefined;
  readonly keepCheckpoints: number;
}

/** A command whose runs lie in folders. */
export interface RunKind<O extends object, C extends AnyRunConfig> {
  /** `proximal <command>` */
  readonly command: 'train' | 'sft' | 'reward';
  /** What the folder of a run without a name is called, before the time. */
  readonly prefix: string;
  /** The keys of its config. */
  readonly shape: z.ZodRawShape;
  /** Checks a config and fills in the defaults.
   *  @param about.name what the config is called in errors, such as `train.yaml` */
  resolve(options: O, about?: { readonly name?: string }): C;
}
