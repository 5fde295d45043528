import type { NewQueue, QueueSource } from '../../api.ts';
import { RequestError } from '../../server/http/request-error.ts';
import { maxResponses } from '../parse-request.ts';
import type { QueueHeader, StoredTask } from '../queue-schema.ts';
import { type CreatedTasks, compareRun, defaultLimit, readTraining } from './compare-run.ts';
import {
  type CreateContext,
  expectFile,
  findInside,
  findRun,
  fromHere,
  toRequestError,
} from './find-source.ts';
import { buildTasks, type ResponseGroup } from './make-tasks.ts';
import { groupsFromFile, groupsFromSamples } from './response-groups.ts';

const defaultRankingSize = 4;

/** Sources whose responses are grouped by prompt. */
type GroupSource = Exclude<QueueSource, { readonly from: 'compare' }>;

interface GroupQueue extends NewQueue {
  readonly source: GroupSource;
}

/** Creates the tasks of a new queue. */
export async function createTasks(queue: NewQueue, context: CreateContext): Promise<CreatedTasks> {
  const { source } = queue;
  if (source.from === 'compare') return compareRun({ ...queue, source }, context);
  const tasks = await groupTasks({ ...queue, source }, context);
  return { tasks, training: await findTraining(source, context) };
}

/** The model and prompts behind a source, as far as it names them. */
async function findTraining(
  source: GroupSource,
  context: CreateContext,
): Promise<QueueHeader['training']> {
  if (source.from === 'file') return { prompts: source.file };
  if (source.from === 'generate') return { model: source.model, prompts: source.prompts };
  return readTraining(await findRun(source.run, context));
}

/** The tasks of a queue whose responses come from anywhere but a comparison. */
async function groupTasks(queue: GroupQueue, context: CreateContext): Promise<StoredTask[]> {
  const { source, limit = defaultLimit } = queue;
  const size = sizeOf(queue);
  const { seed = 0 } = context;
  const groups = await readGroups(source, { ...context, size, limit, seed }).catch((error) => {
    throw toRequestError(error, context.signal);
  });
  const tasks = buildTasks(groups, { responses: size, limit, seed });
  if (tasks.length > 0) return tasks;
  const what =
    size === 1 ? 'a response with text' : `${size ?? 2} different responses to one prompt`;
  throw new RequestError(
    400,
    `Cannot create the queue: its source must have ${what}, but has none among ${groups.length} ${groups.length === 1 ? 'prompt' : 'prompts'}${remedyFor(queue)}`,
  );
}

/** A run usually samples one response per prompt. */
function remedyFor({ source, kind }: GroupQueue): string {
  return source.from === 'samples' && kind !== 'rating'
    ? '; rate its samples from 1 to 5, or compare its policy with the reference'
    : '';
}

/** Number of responses per task; undefined takes all of a file's row. */
function sizeOf({ kind, responses, source }: NewQueue): number | undefined {
  if (kind === 'ranking') {
    const usual = source.from === 'file' ? undefined : defaultRankingSize;
    if (responses !== 1) return responses ?? usual;
    throw new RequestError(
      400,
      'Cannot create the queue: responses of a ranking must be at least 2, got 1',
    );
  }
  const only = kind === 'pair' ? 2 : 1;
  if (responses === undefined || responses === only) return only;
  throw new RequestError(
    400,
    `Cannot create the queue: responses of a ${kind} must be ${only}, got ${responses}; leave it out`,
  );
}

interface GroupContext extends CreateContext {
  readonly size: number | undefined;
  readonly limit: number;
  readonly seed: number;
}

async function readGroups(source: GroupSource, context: GroupContext): Promise<ResponseGroup[]> {
  const { size, roots } = context;
  switch (source.from) {
    case 'samples':
      return groupsFromSamples(await findRun(source.run, context), source);
    case 'file': {
      const path = await expectFile(source.file, roots);
      const max = size === undefined ? maxResponses : Infinity;
      return groupsFromFile(path, { name: source.file, min: size ?? 2, max });
    }
    case 'generate': {
      const prompts = fromHere(await expectFile(source.prompts, roots));
      // If the path does not exist, it may be an id on the hub; loading checks that.
      const found = await findInside(source.model, roots);
      const model = found === undefined ? source.model : fromHere(found);
      const { groupsFromModel } = await import('./groups-from-model.ts');
      const { maxNewTokens, model: name } = source;
      return groupsFromModel({ ...context, model, name, prompts, maxNewTokens, samples: size! });
    }
  }
}
