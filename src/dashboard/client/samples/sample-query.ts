import type { SampleQuery } from '../../api.ts';

export type SortKey = NonNullable<SampleQuery['sort']>;

/** What a person has typed, as it stands in the boxes. */
export interface SampleFilters {
  readonly search: string;
  readonly fromStep: string;
  readonly toStep: string;
  readonly minScore: string;
  readonly maxScore: string;
}

export interface SampleSort {
  readonly sort: SortKey;
  readonly order: 'asc' | 'desc';
}

export const noFilters: SampleFilters = {
  search: '',
  fromStep: '',
  toStep: '',
  minScore: '',
  maxScore: '',
};

export const newestFirst: SampleSort = { sort: 'step', order: 'desc' };

/** The query of some filters; a box without a number asks for nothing.
 *  @example search ' cat ', fromStep '3', maxScore '-'  →  { search: 'cat', fromStep: 3 } */
export function queryOf(filters: SampleFilters, sort: SampleSort): SampleQuery {
  const search = filters.search.trim();
  return {
    ...sort,
    ...(search === '' ? {} : { search }),
    ...numberOf('fromStep', filters),
    ...numberOf('toStep', filters),
    ...numberOf('minScore', filters),
    ...numberOf('maxScore', filters),
  };
}

/** A query that finds nothing younger than a step: samples that come later do not move its rows. */
export function queryUntil(query: SampleQuery, step: number): SampleQuery {
  return { ...query, toStep: Math.min(query.toStep ?? step, step) };
}

/** The sort after a click on a header: a new column from its high end, the same one the other way. */
export function nextSort(current: SampleSort, sort: SortKey): SampleSort {
  if (current.sort !== sort) return { sort, order: 'desc' };
  return { sort, order: current.order === 'desc' ? 'asc' : 'desc' };
}

function numberOf(
  name: Exclude<keyof SampleFilters, 'search'>,
  filters: SampleFilters,
): SampleQuery {
  const text = filters[name].trim();
  const value = Number(text);
  return text === '' || !Number.isFinite(value) ? {} : { [name]: value };
}
