import type { LabelTaskKind, NewQueue, QueueSource, RunSummary } from '../../api.ts';

export const kindTitles: Readonly<Record<LabelTaskKind, string>> = {
  pair: 'Choose the better of two',
  rating: 'Rate from 1 to 5',
  ranking: 'Rank several',
};

export const sourceTitles: Readonly<Record<QueueSource['from'], string>> = {
  samples: 'Samples of a run',
  generate: 'Fresh generations of a model',
  file: 'A file',
};

/** What the form allows; the keys of a ranking are 1 to 9. */
export const limits = {
  name: 80,
  responses: { min: 2, max: 9, default: 4 },
  tasks: { min: 1, max: 10_000, default: 100 },
} as const;

/** The fields of the form as typed. */
export type QueueFields = Readonly<Record<string, string>>;

/** A new queue as the form says it; a queue without a name is called after its source.
 *  @example { kind: 'pair', from: 'file', file: 'data/a.jsonl' }  →  named 'pairs of a.jsonl' */
export function readQueueFields(fields: QueueFields, runs: readonly RunSummary[]): NewQueue {
  const kind = fields.kind as LabelTaskKind;
  const responses = readWhole(fields.responses);
  const limit = readWhole(fields.limit);
  return {
    name: fields.name?.trim() || `${kind}s of ${nameSource(fields, runs)}`.slice(0, limits.name),
    kind,
    source: readSource(fields),
    ...(kind === 'ranking' && responses !== undefined && { responses }),
    ...(limit !== undefined && { limit }),
  };
}

function readSource(fields: QueueFields): QueueSource {
  const text = (name: string) => fields[name]?.trim() ?? '';
  if (fields.from === 'file') return { from: 'file', file: text('file') };
  if (fields.from === 'samples') {
    const fromStep = readWhole(fields.fromStep);
    return { from: 'samples', run: text('run'), ...(fromStep !== undefined && { fromStep }) };
  }
  const maxNewTokens = readWhole(fields.maxNewTokens);
  return {
    from: 'generate',
    model: text('model'),
    prompts: text('prompts'),
    ...(maxNewTokens !== undefined && { maxNewTokens }),
  };
}

function nameSource(fields: QueueFields, runs: readonly RunSummary[]): string {
  if (fields.from === 'samples') return runs.find(({ id }) => id === fields.run)?.name ?? 'a run';
  const path = (fields.from === 'file' ? fields.file : fields.model) ?? '';
  return path.trim().split(/[\\/]/).filter(Boolean).at(-1) ?? 'a model';
}

/** Undefined where nothing was typed. */
function readWhole(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? undefined : Number(trimmed);
}
