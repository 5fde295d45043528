import { existsSync } from 'node:fs';
import { z } from 'zod';
import { readJsonLines } from '../../../data/file-rows.ts';
import { locateRunFiles } from '../../../run/run-folder.ts';
import { Refusal } from '../../server/http/refusal.ts';
import type { StoredResponse } from '../queue-schema.ts';
import { differentResponses, type ResponseGroup } from './make-tasks.ts';

/** A run whose samples can be labelled. */
export interface LabelRun {
  /** As the API names it. */
  readonly id: string;
  readonly name: string;
  readonly folder: string;
}

const sampleSchema = z.object({
  step: z.number(),
  sample: z.number(),
  prompt: z.string(),
  response: z.string(),
});

/** The responses in a run's `samples.jsonl` by prompt: each text once, from where it first came.
 *  Lines that are no samples, as the unfinished last one of a run under way, are passed over. */
export async function groupsFromSamples(
  run: LabelRun,
  { fromStep = 0 }: { readonly fromStep?: number | undefined } = {},
): Promise<ResponseGroup[]> {
  const { samples } = locateRunFiles(run.folder);
  if (!existsSync(samples)) {
    throw new Refusal(
      400,
      `Cannot take samples of ${run.name}: the run must have written some, got none yet`,
    );
  }
  const prompts = new Map<string, StoredResponse[]>();
  const file = { path: samples, name: samples };
  for await (const { columns } of readJsonLines(file, () => {})) {
    const { data } = sampleSchema.safeParse(columns);
    if (data === undefined || data.step < fromStep || data.prompt.trim() === '') continue;
    const { prompt, response: text, step, sample } = data;
    const responses = prompts.get(prompt) ?? [];
    prompts.set(prompt, responses);
    responses.push({ text, from: { run: run.name, step, sample } });
  }
  return [...prompts].map(([prompt, responses]) => ({
    prompt,
    responses: differentResponses(responses),
  }));
}
