import { z } from 'zod';

const text = z.string().min(1);
const count = z.int().min(1);

/** The flags of `proximal labels create`. */
export const createFlagsSchema = z.strictObject({
  name: text.describe('What people see'),
  kind: z.enum(['pair', 'rating', 'ranking']).default('pair').describe('What people are asked for'),
  run: text.optional().describe('Folder of a run: its samples are labelled'),
  fromStep: z.int().min(0).optional().describe('First step whose samples are taken, with --run'),
  file: text
    .optional()
    .describe('File with rows of "prompt" and "responses", or "prompt", "chosen" and "rejected"'),
  model: text.optional().describe('Folder or hub id of a model: fresh responses are labelled'),
  prompts: text.optional().describe('File with its prompts, with --model'),
  maxNewTokens: count.optional().describe('Longest response, with --model; 50 if not given'),
  responses: z
    .int()
    .min(2)
    .max(9)
    .optional()
    .describe("Responses of a ranking; 4 if not given, or all of a file's row"),
  limit: count.default(100).describe('Tasks at most'),
  seed: z.int().default(0).describe('The same seed chooses the same tasks'),
});

export type CreateFlags = Readonly<z.output<typeof createFlagsSchema>>;
