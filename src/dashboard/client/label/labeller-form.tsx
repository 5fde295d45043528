import { useLayoutEffect, useRef } from 'preact/hooks';

interface LabellerFormProps {
  readonly name: string | undefined;
  readonly onName: (name: string) => void;
  /** Undefined where there is no name to go back to. */
  readonly onCancel: (() => void) | undefined;
}

/** Asks who labels. */
export function LabellerForm({ name, onName, onCancel }: LabellerFormProps) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => input.current?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    const given = cleanName(input.current?.value ?? '');
    if (given !== undefined) onName(given);
  };
  return (
    <section class="label-page">
      <h2>Label</h2>
      <form class="label-name" onSubmit={submit}>
        <label for="label-name">Your name</label>
        <input
          id="label-name"
          ref={input}
          defaultValue={name ?? ''}
          required
          pattern=".*\S.*"
          maxLength={longestName}
          autocomplete="name"
          aria-describedby="label-name-hint"
        />
        <p id="label-name-hint" class="label-hint">
          It is kept with your answers, so that people can be told apart, and in this browser.
        </p>
        <div class="label-row">
          <button type="submit" class="label-primary">
            Start
          </button>
          {onCancel && (
            <button type="button" onClick={onCancel}>
              Cancel
            </button>
          )}
        </div>
      </form>
    </section>
  );
}

/** Where small things stay between visits; the browser's localStorage is one. */
export type Memory = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const nameKey = 'proximal.labeller';

/** Longest name; the server keeps it with every answer. */
export const longestName = 40;

/** What steers a terminal or turns the direction of writing around. */
const controls = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu;

/** The browser's memory, or one that lasts as long as the page where the browser forbids its own. */
export function browserMemory(): Memory {
  try {
    return window.localStorage;
  } catch {
    return pageMemory();
  }
}

/** A memory that lasts as long as the page. */
export function pageMemory(): Memory {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

/** Who labels here; undefined until someone has said so. */
export function readName(memory: Memory): string | undefined {
  return cleanName(memory.getItem(nameKey) ?? '');
}

export function keepName(memory: Memory, name: string): void {
  memory.setItem(nameKey, name);
}

/** A name as the server keeps it: composed characters, no controls, no spaces around it or doubled
 *  within; undefined where nothing is left.
 *  @example '  Ada   Lovelace '  →  'Ada Lovelace' */
export function cleanName(text: string): string | undefined {
  const line = text.normalize('NFC').replace(/\s+/g, ' ').replace(controls, '').trim();
  // By whole characters: half of one would be refused.
  const name = [...line].slice(0, longestName).join('').trimEnd();
  return name === '' ? undefined : name;
}
