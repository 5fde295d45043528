import { JsonlTail } from '../../../fs/index.ts';
import { locateRunFiles, type RunPaths } from '../../../run/run-folder.ts';
import type {
  EvaluationRow,
  LogRow,
  MetricColumns,
  SamplePage,
  SampleQuery,
  SampleRow,
  TokenColumns,
} from '../../api.ts';
import { querySamples } from '../../sample-query.ts';
import { RequestError } from '../http/request-error.ts';
import { type LinePosition, readRecords, readRecordsAt } from '../logs/log-records.ts';
import { type MetricSelection, MetricTable } from '../logs/metric-table.ts';
import { SampleTable, TokenIndex, toSampleRow } from '../logs/sample-table.ts';

/** Answers queries about one run's logs. Metrics are in memory as columns; of samples and tokens only
 *  their positions in the file and what queries need. */
export class RunTables {
  private readonly paths: RunPaths;
  private readonly metricTable = new MetricTable();
  private readonly sampleTable = new SampleTable();
  private readonly tokenIndex = new TokenIndex();
  private readonly metricTail: JsonlTail;
  private readonly sampleTail: JsonlTail;
  private readonly tokenTail: JsonlTail;

  constructor(folder: string) {
    this.paths = locateRunFiles(folder);
    this.metricTail = new JsonlTail(this.paths.metrics, this.metricTable);
    this.sampleTail = new JsonlTail(this.paths.samples, this.sampleTable);
    this.tokenTail = new JsonlTail(this.paths.tokens, this.tokenIndex);
  }

  /** Reads all logs before the first query. */
  async preload(): Promise<void> {
    for (const tail of [this.metricTail, this.sampleTail, this.tokenTail]) await tail.update();
  }

  async metrics(selection: MetricSelection): Promise<MetricColumns> {
    await this.metricTail.update();
    return this.metricTable.select(selection);
  }

  async samples(query: SampleQuery): Promise<SamplePage> {
    await Promise.all([this.sampleTail.update(), this.tokenTail.update()]);
    const { total, rows } = querySamples(this.sampleTable.rows, query);
    const positions = rows.map(({ index }) => this.sampleTable.positionOf(index)!);
    const records = await readRecordsAt(this.paths.samples, positions);
    const samples = rows.map((row, i) => {
      const hasTokens = this.tokensOf(row) !== undefined;
      return { ...toSampleRow(expectStep(records[i], row.step), row.index), hasTokens };
    });
    return { total, rows: samples };
  }

  async tokens(index: number): Promise<TokenColumns> {
    await Promise.all([this.sampleTail.update(), this.tokenTail.update()]);
    const row = this.sampleTable.rows[index];
    if (row === undefined) throw new RequestError(404, `There is no sample ${index} in this run`);
    const position = this.tokensOf(row);
    if (position === undefined) {
      throw new RequestError(404, `The run did not record the tokens of sample ${index}`);
    }
    const [record] = await readRecordsAt(this.paths.tokens, [position]);
    return expectStep(record, row.step) as unknown as TokenColumns;
  }

  evaluations(): Promise<readonly EvaluationRow[]> {
    return readRecords(this.paths.evaluations);
  }

  async log(): Promise<readonly LogRow[]> {
    return (await readRecords(this.paths.log)) as unknown as readonly LogRow[];
  }

  private tokensOf(row: SampleRow): LinePosition | undefined {
    return this.tokenIndex.positionOf(row, this.sampleTable.countEqual(row));
  }
}

/** Checks that a record is still the expected one: a resumed run may rewrite its logs meanwhile. */
function expectStep<T extends { readonly step: number }>(record: T | undefined, step: number): T {
  if (record?.step === step) return record;
  throw new RequestError(409, 'The log changed while it was being read; try again');
}
