import {
  type PreferenceFormat,
  preferenceFormats,
  type ResolvedPreferenceOptions,
} from '../config/preference-config.ts';
import { type DataRow, kindOf, listColumns } from './data-row.ts';
import type { Turn } from './line-chat.ts';
import {
  expectColumns,
  hasColumn,
  hasPrompt,
  LayoutGuard,
  readNumber,
  readPrompt,
  readTurn,
  readTurns,
  rowFault,
} from './line-columns.ts';
import { readBest, readLabel, readMargin, readRanking } from './preference-columns.ts';
import { expandBest, expandRanking, type PairPlaces } from './preference-pairs.ts';
import { splitConversations, splitTexts } from './preference-prefix.ts';
import { normalizeRating } from './rating-scale.ts';

/** What a row says of completions to a prompt. */
export interface Judgement {
  readonly prompt: Turn;
  readonly completions: readonly Turn[];
  readonly pairs: readonly (PairPlaces & { readonly margin: number })[];
  /** That of the only completion, 0 … 1, where it is rated and not compared. */
  readonly rating?: number;
}

/** Reads the rows of one source, which all say the same kind of thing. */
export class JudgementReader {
  private readonly options: ResolvedPreferenceOptions;
  private readonly layout = new LayoutGuard();
  /** That of the first row, unless the options name one. */
  private format: PreferenceFormat | undefined;

  constructor(options: ResolvedPreferenceOptions) {
    this.options = options;
    this.format = options.format;
  }

  read(row: DataRow): Judgement {
    const format = this.findFormat(row);
    // The first row has set the layout, which another format cannot have.
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
    const found = preferenceFormats.filter((format) =>
      columnsOf(format, options).every((column) => hasColumn(row, column)),
    );
    const isForced = options.format !== undefined || found.length === 0;
    if (known !== undefined && (isForced || found.includes(known))) {
      expectColumns(row, columnsOf(known, options));
      return known;
    }
    const [format] = found;
    if (format !== undefined) return format;
    const wanted = preferenceFormats.map((one) =>
      columnsOf(one, options)
        .map((column) => `"${column}"`)
        .join(' and '),
    );
    throw rowFault(row, {
      reason: 'missing-column',
      fault: `it must have ${wanted.join(', or ')}, got ${listColumns(row)}; name them by chosenColumn and the like`,
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

  /** Both sides of a pair. Messages that begin with the assistant's are answers; others are whole
   *  conversations, whatever the prompt column repeats of them. */
  private readSides(row: DataRow): { prompt: Turn; chosen: Turn; rejected: Turn } {
    const { chosenColumn, rejectedColumn } = this.options;
    const [chosen, rejected] = [readTurn(row, chosenColumn), readTurn(row, rejectedColumn)];
    if (typeof chosen === 'string' && typeof rejected === 'string') {
      if (!hasPrompt(row, this.options)) return splitTexts(chosen, rejected);
    } else if (typeof chosen !== 'string' && typeof rejected !== 'string') {
      const isAnswer = chosen[0]?.role === 'assistant' || rejected[0]?.role === 'assistant';
      if (!isAnswer) return splitConversations(chosen, rejected);
    } else {
      throw rowFault(row, {
        reason: 'wrong-type',
        fault: `"${rejectedColumn}" must be ${typeof chosen === 'string' ? 'text' : 'a list of messages'} as "${chosenColumn}", got ${kindOf(rejected)}`,
      });
    }
    return { prompt: readPrompt(row, this.options), chosen, rejected };
  }

  private readChoices(row: DataRow): readonly Turn[] {
    const { completionsColumn } = this.options;
    const completions = readTurns(row, completionsColumn);
    if (completions.length >= 2) return completions;
    throw rowFault(row, {
      reason: 'out-of-range',
      fault: `"${completionsColumn}" must have at least 2 completions, got ${completions.length}`,
    });
  }

  private compare(
    row: DataRow,
    { completions, pairs }: { completions: readonly Turn[]; pairs: readonly PairPlaces[] },
  ): Judgement {
    const prompt = readPrompt(row, this.options);
    return { prompt, completions, pairs: pairs.map((pair) => ({ ...pair, margin: 0 })) };
  }

  private readRating(row: DataRow): number {
    const { ratingColumn, ratingMin: min, ratingMax: max } = this.options;
    if (min === undefined || max === undefined) {
      throw new TypeError(
        `Cannot read the rating of ${row.origin}: ratingMin and ratingMax must be given, such as 1 and 5, got neither`,
      );
    }
    const rating = readNumber(row, ratingColumn);
    const normalized = rating === undefined ? undefined : normalizeRating(rating, { min, max });
    if (normalized !== undefined) return normalized;
    throw rowFault(row, {
      reason: 'out-of-range',
      fault: `"${ratingColumn}" must be from ${min} to ${max}, got ${rating ?? 'nothing'}`,
    });
  }
}

const nouns: Readonly<Record<PreferenceFormat, string>> = {
  pair: 'pairs',
  best: 'choices',
  ranking: 'rankings',
  rating: 'ratings',
};

/** The columns by which a format is known. */
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
