import { locateRunFiles } from '../../../run/run-folder.ts';
import type { NewQueue, QueueSource } from '../../api.ts';
import { RequestError } from '../../server/http/request-error.ts';
import { readJson } from '../../server/runs/read-state.ts';
import type { QueueHeader, StoredTask } from '../queue-schema.ts';
import { buildComparison } from './compare-tasks.ts';
import { type CreateContext, expectFile, findRun, toRequestError } from './find-source.ts';
import type { LabelRun } from './response-groups.ts';

/** The tasks of a new queue, and what its header says about their source. */
export interface CreatedTasks extends Pick<QueueHeader, 'compare' | 'training'> {
  readonly tasks: readonly StoredTask[];
}

/** Maximum number of tasks, or of compared prompts, if a queue does not say. */
export const defaultLimit = 100;

type CompareSource = Extract<QueueSource, { readonly from: 'compare' }>;

/** The tasks of a queue that compares a run's policy with its reference or with another run's. */
export async function compareRun(
  { source, kind, responses, limit = defaultLimit }: NewQueue & { readonly source: CompareSource },
  context: CreateContext,
): Promise<CreatedTasks> {
  if (kind === 'ranking' || responses !== undefined) {
    const got = kind === 'ranking' ? 'kind ranking' : `${responses} responses`;
    throw new RequestError(
      400,
      `Cannot create the queue: a comparison has pairs or ratings of two responses, got ${got}; choose kind pair or rating without a number of responses`,
    );
  }
  const run = await findRun(source.run, context);
  const other = source.against === undefined ? undefined : await findRun(source.against, context);
  if (other?.folder === run.folder) {
    throw new RequestError(
      400,
      `Cannot create the queue: the runs must be different, got ${run.name} twice; leave out the second to compare with the reference`,
    );
  }
  const prompts =
    source.prompts === undefined ? undefined : await expectFile(source.prompts, context.roots);
  const { seed = 0, signal, onProgress } = context;
  const { comparePolicies } = await import('../../../run/compare-policies.ts');
  const compared = await comparePolicies(run.folder, {
    ...{ against: other?.folder, prompts, limit, seed, signal, onProgress },
  }).catch((error) => {
    throw toRequestError(error, signal);
  });
  const { tasks, compare } = buildComparison(compared, { kind, run: run.folder, seed });
  if (tasks.length > 0) return { tasks, compare, training: await readTraining(run) };
  throw new RequestError(
    400,
    `Cannot create the queue: some responses must differ, but those to all ${compare.prompts} prompts are equal; train longer or with a higher learning rate`,
  );
}

/** The model and config of a run. */
export async function readTraining({ folder }: LabelRun): Promise<QueueHeader['training']> {
  const { config } = locateRunFiles(folder);
  const { modelName } = (await readJson(config)) ?? {};
  return typeof modelName === 'string' ? { model: modelName, config } : undefined;
}
