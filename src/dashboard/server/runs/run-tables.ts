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
import { Refusal } from '../http/refusal.ts';
import { type MetricSelection, MetricTable } from '../logs/metric-table.ts';
import { type LinePlace, readRecords, readRecordsAt } from '../logs/read-records.ts';
import { SampleTable, toSampleRow } from '../logs/sample-table.ts';
import { TokenIndex } from '../logs/token-index.ts';

/** What pages ask of one run's logs. Metrics are held as columns; of samples and tokens only where
 *  they lie and what queries look at. */
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

  /** Reads all that is there, before anybody asks. */
  async readAhead(): Promise<void> {
    for (const tail of [this.metricTail, this.sampleTail, this.tokenTail]) await tail.update();
  }

  async metrics(selection: MetricSelection): Promise<MetricColumns> {
    await this.metricTail.update();
    return this.metricTable.select(selection);
  }

  async samples(query: SampleQuery): Promise<SamplePage> {
    await Promise.all([this.sampleTail.update(), this.tokenTail.update()]);
    const { total, rows } = querySamples(this.sampleTable.rows, query);
    const places = rows.map(({ index }) => this.sampleTable.placeOf(index)!);
    const records = await readRecordsAt(this.paths.samples, places);
    const whole = rows.map((row, i) => {
      const hasTokens = this.tokensOf(row) !== undefined;
      return { ...toSampleRow(expectSame(records[i], row.step), row.index), hasTokens };
    });
    return { total, rows: whole };
  }

  async tokens(index: number): Promise<TokenColumns> {
    await Promise.all([this.sampleTail.update(), this.tokenTail.update()]);
    const row = this.sampleTable.rows[index];
    if (row === undefined) throw new Refusal(404, `There is no sample ${index} in this run`);
    const place = this.tokensOf(row);
    if (place === undefined) {
      throw new Refusal(404, `The tokens of sample ${index} were not written down`);
    }
    const [record] = await readRecordsAt(this.paths.tokens, [place]);
    return expectSame(record, row.step) as unknown as TokenColumns;
  }

  evaluations(): Promise<readonly EvaluationRow[]> {
    return readRecords(this.paths.evaluations);
  }

  async log(): Promise<readonly LogRow[]> {
    return (await readRecords(this.paths.log)) as unknown as readonly LogRow[];
  }

  private tokensOf(row: SampleRow): LinePlace | undefined {
    return this.tokenIndex.placeOf(row, this.sampleTable.countEqual(row));
  }
}

/** A resumed run may replace its logs between the look-up and the reading. */
function expectSame<T extends { readonly step: number }>(record: T | undefined, step: number): T {
  if (record?.step === step) return record;
  throw new Refusal(409, 'The log was replaced or damaged while it was read; ask again');
}
