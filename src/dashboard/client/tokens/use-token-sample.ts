import type { DashboardSource, RunSummary, SampleRow, TokenColumns } from '../../api.ts';
import { type Loaded, useLoaded } from '../samples/use-loaded.ts';
import { type ArithmeticConfig, readArithmeticConfig } from './arithmetic-config.ts';
import { type Neighbours, neighboursOf } from './neighbours.ts';

/** A response with its tokens. */
export interface TokenSample {
  readonly index: number;
  readonly columns: TokenColumns;
  readonly config: ArithmeticConfig;
  /** The sample's own line; undefined where it is not found. */
  readonly row: SampleRow | undefined;
}

interface Place {
  readonly source: DashboardSource;
  readonly run: RunSummary;
}

/** Lines looked at on either side for one with tokens. */
const REACH = 50;

/** The tokens of a sample; those of the one before stay until they have come. */
export function useTokenSample(
  index: number,
  { source, run }: Place,
): Loaded<Omit<TokenSample, 'row'>> {
  return useLoaded(`${run.id} ${index}`, async () => {
    const [columns, config] = await Promise.all([
      source.tokens(run.id, index),
      source.config(run.id),
    ]);
    return { index, columns, config: readArithmeticConfig(config) };
  });
}

/** The samples beside one, found at once where the lines around the one before tell them. */
export function useNeighbours(index: number, { source, run }: Place): Neighbours {
  const { samples } = run.counts;
  // Samples that come later matter only near the end.
  const key = `${run.id} ${index} ${index + REACH >= samples ? samples : ''}`;
  const { value } = useLoaded(key, async () => {
    const offset = Math.max(0, index - REACH);
    const { rows } = await source.samples(run.id, { offset, limit: 2 * REACH });
    return rows;
  });
  return neighboursOf(index, value ?? []);
}
