import { z } from 'zod';

/** Which layers get an adapter: all of them, the upper n, or a range of indices. */
export const loraLayersSchema = z
  .union([z.int().min(1), z.string().regex(/^(all|[1-9]\d*|\d+-\d+)$/)])
  .meta({ type: 'string', rule: 'all, a number n of upper layers, or a range such as 4-11' });

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
  loraLayers: loraLayersSchema
    .default('all')
    .describe(
      'Layers that get an adapter: all, a number n for the upper n, or a range of indices such as 4-11. Layers below the first one run once per PPO step for all models',
    ),
};

const loraConfigSchema = z.object(loraConfigShape);

/** The LoRA fields of a config. */
export type LoraFields = Readonly<z.output<typeof loraConfigSchema>>;

export const defaultLoraFields: LoraFields = loraConfigSchema.parse({});
