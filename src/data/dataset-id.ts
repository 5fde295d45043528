/** A dataset on the hub, or a part of it. */
export interface DatasetId {
  /** `owner/name` */
  readonly id: string;
  /** Branch, tag or commit. */
  readonly revision: string;
  /** The only folder whose files count; empty for all. */
  readonly folder: string;
}

const pattern = /^([\w-][\w.-]*\/[\w-][\w.-]*)(?:@([\w-][\w.-]*))?((?:\/[\w-][\w. -]*)*)$/;

/** Reads `owner/name`, with a revision and a folder where wanted; undefined if it is no such id.
 *  @example openai/gsm8k@main/socratic
 *    →  { id: 'openai/gsm8k', revision: 'main', folder: 'socratic' } */
export function parseDatasetId(text: string): DatasetId | undefined {
  const [, id, revision = 'main', folder = ''] = pattern.exec(text) ?? [];
  if (id === undefined || /--|\.\./.test(`${id}/${revision}`)) return undefined;
  return { id, revision, folder: folder.slice(1) };
}
