import type { SampleRow } from '../../api.ts';
import { formatNumber } from './format-number.ts';
import { oneLine } from './visible-text.ts';

/** Characters of a text that a line could show at most. */
const LINE_LIMIT = 300;

/** One sample in one line each; a grey line until it has come. */
export function SampleGridRow({
  row,
  place,
  top,
  isActive,
  isOpen,
  onOpen,
}: {
  readonly row: SampleRow | undefined;
  /** Its place in the list. */
  readonly place: number;
  /** Pixels from the first row. */
  readonly top: number;
  readonly isActive: boolean;
  readonly isOpen: boolean;
  readonly onOpen: (place: number) => void;
}) {
  const name = `samples-row samples-body-row${isActive ? ' is-active' : ''}${isOpen ? ' is-open' : ''}`;
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a table cannot be drawn in part
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div
      role="row"
      id={rowId(place)}
      aria-rowindex={place + 2}
      aria-selected={isOpen}
      class={name}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onOpen(place)}
    >
      {row === undefined ? (
        <Cell name="waiting" text="…" />
      ) : (
        <>
          <Cell name="step" text={String(row.step)} />
          <Cell name="score" text={formatNumber(row.score, 3)} />
          <Cell name="kl" text={formatNumber(row.kl, 3)} />
          <LengthCell row={row} />
          <Cell name="prompt" text={oneLine(row.prompt, LINE_LIMIT)} />
          <Cell name="response" text={oneLine(row.response, LINE_LIMIT)} />
        </>
      )}
    </div>
  );
}

export function rowId(place: number): string {
  return `samples-row-${place}`;
}

/** A word for how a response ended. */
export function endWord({ finished }: Pick<SampleRow, 'finished'>): string {
  return finished ? 'stopped' : 'cut off';
}

function LengthCell({ row }: { readonly row: SampleRow }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a table cannot be drawn in part
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div role="gridcell" class="samples-cell samples-length">
      {row.length}
      <span class="samples-end" role="img" aria-label={endWord(row)} title={endWord(row)}>
        {row.finished ? '■' : '✂'}
      </span>
    </div>
  );
}

function Cell({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows of a table cannot be drawn in part
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div role="gridcell" class={`samples-cell samples-${name}`} dir="auto">
      {text}
    </div>
  );
}
