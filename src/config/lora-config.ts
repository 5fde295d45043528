import { z } from 'zod';

/** The adapter that PPO, SFT and reward-model training create: the only place for its defaults. */
export const loraConfigShape = {
  loraR: z.int().min(1).default(16).describe('Rank of the LoRA adapters'),
  loraAlpha: z
    .number()
    .positive()
    .default(32)
    .describe('Adapter outputs are multiplied by loraAlpha / loraR'),
  loraDropout: z
    .number()
    .min(0)
    .lt(1)
    .default(0.1)
    .describe(
      'Dropout on adapter inputs in SFT and reward-model training; PPO uses none, so that ratios start at 1',
    ),
  loraTargets: z
    .array(z.string().min(1))
    // The four projections of attention, which are two modules in GPT-2.
    .default(['q_proj', 'k_proj', 'v_proj', 'o_proj', 'c_attn', 'attn.c_proj'])
    .describe('Modules that get an adapter, by the end of their names; all-linear means all'),
};

const loraConfigSchema = z.object(loraConfigShape);

/** The LoRA fields of a config. */
export type LoraFields = Readonly<z.output<typeof loraConfigSchema>>;

export const defaultLoraFields: LoraFields = loraConfigSchema.parse({});
