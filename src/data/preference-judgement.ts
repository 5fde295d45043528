import {
  type PreferenceFormat,
  preferenceFormats,
  type ResolvedPreferenceOptions,
} from '../config/preference-config.ts';
import { type DataRow, kindOf, listColumns } from './data-row.ts';
import {
  type ComparedPair,
  expandBest,
  expandRanking,
  normalizeRating,
  readBest,
  readLabel,
  readMargin,
  readRanking,
  splitConversations,
  splitTexts,
} from './preference-columns.ts';
import {
  expectColumns,
  hasColumn,
  hasPrompt,
  LayoutGuard,
  readNumber,
  readPrompt,
  readTurn,
  readTurns,
  rowError,
  type Turn,
} from './row-columns.ts';

/** A row's judgement of completions of a prompt. */
export interface Judgement {
  readonly prompt: Turn;
  readonly completions: readonly Turn[];
  readonly pairs: readonly (ComparedPair & { readonly margin: number })[];
  /** Rating of the only completion, 0 … 1, in a row without pairs. */
  readonly rating?: number;
}

/** Reads the rows of one source, which must all have the same format. */
export class JudgementReader {
  private readonly options: ResolvedPreferenceOptions;
  private readonly layout = new LayoutGuard();
  /** The format of the first row, unless the options set one. */
  private format: PreferenceFormat | undefined;

  constructor(options: ResolvedPreferenceOptions) {
    this.options = options;
    this.format = options.format;
  }

  read(row: DataRow): Judgement {
    const format = this.findFormat(row);
    // The first row has set the layout, which differs for another format.
    if (this.format !== undefined && format !== this.format) {
      this.layout.expect(nouns[format], row);
    }
    const judgement = this.readers[format](row);
    const isText = typeof judgement.completions[0] === 'string';
    const prompt = hasPrompt(row, this.options) ? 'with a prompt' : 'without a prompt';
    this.layout.expect(`${nouns[format]} of ${isText ? 'texts' : 'messages'} ${prompt}`, row);
    this.format ??= format;
    return judgement;
  }

  private findFormat(row: DataRow): PreferenceFormat {
    const { options, format: known } = this;
    const matching = preferenceFormats.filter((format) =>
      columnsOf(format, options).every((column) => hasColumn(row, column)),
    );
    const isForced = options.format !== undefined || matching.length === 0;
    if (known !== undefined && (isForced || matching.includes(known))) {
      expectColumns(row, columnsOf(known, options));
      return known;
    }
    const [format] = matching;
    if (format !== undefined) return format;
    const expected = preferenceFormats.map((one) =>
      columnsOf(one, options)
        .map((column) => `"${column}"`)
        .join(' and '),
    );
    throw rowError(row, {
      reason: 'missing-column',
      problem: `it must have ${expected.join(', or ')}, got ${listColumns(row)}; set chosenColumn and similar options`,
    });
  }

  private readonly readers: Readonly<Record<PreferenceFormat, (row: DataRow) => Judgement>> = {
    pair: (row) => {
      const { labelColumn, marginColumn } = this.options;
      const { prompt, chosen, rejected } = this.readSides(row);
      const target = readLabel(row, labelColumn);
      const margin = readMargin(row, { column: marginColumn, target });
      const pair = { chosen: 0, rejected: 1, target, margin, weight: 1 };
      return { prompt, completions: [chosen, rejected], pairs: [pair] };
    },
    best: (row) => {
      const completions = this.readChoices(row);
      const { length: count } = completions;
      const best = readBest(row, { column: this.options.bestColumn, count });
      return this.compare(row, { completions, pairs: expandBest(best, count) });
    },
    ranking: (row) => {
      const completions = this.readChoices(row);
      const { length: count } = completions;
      const ranks = readRanking(row, { column: this.options.rankingColumn, count });
      return this.compare(row, { completions, pairs: expandRanking(ranks) });
    },
    rating: (row) => {
      const completions = [readTurn(row, this.options.completionColumn)];
      const rating = this.readRating(row);
      return { prompt: readPrompt(row, this.options), completions, pairs: [], rating };
    },
  };

  /** Both sides of a pair. Messages that start with the assistant are answers; others are whole
   *  conversations, independent of the prompt column. */
  private readSides(row: DataRow): { prompt: Turn; chosen: Turn; rejected: Turn } {
    const { chosenColumn, rejectedColumn } = this.options;
    const [chosen, rejected] = [readTurn(row, chosenColumn), readTurn(row, rejectedColumn)];
    if (typeof chosen === 'string' && typeof rejected === 'string') {
      if (!hasPrompt(row, this.options)) return splitTexts(chosen, rejected);
    } else if (typeof chosen !== 'string' && typeof rejected !== 'string') {
      const isAnswer = chosen[0]?.role === 'assistant' || rejected[0]?.role === 'assistant';
      if (!isAnswer) return splitConversations(chosen, rejected);
    } else {
      throw rowError(row, {
        reason: 'wrong-type',
        problem: `"${rejectedColumn}" must be ${typeof chosen === 'string' ? 'text' : 'a list of messages'} like "${chosenColumn}", got ${kindOf(rejected)}`,
      });
    }
    return { prompt: readPrompt(row, this.options), chosen, rejected };
  }

  private readChoices(row: DataRow): readonly Turn[] {
    const { completionsColumn } = this.options;
    const completions = readTurns(row, completionsColumn);
    if (completions.length >= 2) return completions;
    throw rowError(row, {
      reason: 'out-of-range',
      problem: `"${completionsColumn}" must have at least 2 completions, got ${completions.length}`,
    });
  }

  private compare(
    row: DataRow,
    { completions, pairs }: { completions: readonly Turn[]; pairs: readonly ComparedPair[] },
  ): Judgement {
    const prompt = readPrompt(row, this.options);
    return { prompt, completions, pairs: pairs.map((pair) => ({ ...pair, margin: 0 })) };
  }

  private readRating(row: DataRow): number {
    const { ratingColumn, ratingMin: min, ratingMax: max } = this.options;
    if (min === undefined || max === undefined) {
      throw new TypeError(
        `Cannot read the rating of ${row.origin}: ratingMin and ratingMax must be set, such as 1 and 5, got neither`,
      );
    }
    const rating = readNumber(row, ratingColumn);
    const normalized = rating === undefined ? undefined : normalizeRating(rating, { min, max });
    if (normalized !== undefined) return normalized;
    throw rowError(row, {
      reason: 'out-of-range',
      problem: `"${ratingColumn}" must be from ${min} to ${max}, got ${rating ?? 'nothing'}`,
    });
  }
}

const nouns: Readonly<Record<PreferenceFormat, string>> = {
  pair: 'pairs',
  best: 'choices',
  ranking: 'rankings',
  rating: 'ratings',
};

/** The columns that identify a format. */
function columnsOf(format: PreferenceFormat, options: ResolvedPreferenceOptions): string[] {
  switch (format) {
    case 'pair':
      return [options.chosenColumn, options.rejectedColumn];
    case 'best':
      return [options.completionsColumn, options.bestColumn];
    case 'ranking':
      return [options.completionsColumn, options.rankingColumn];
    case 'rating':
      return [options.completionColumn, options.ratingColumn];
  }
}
