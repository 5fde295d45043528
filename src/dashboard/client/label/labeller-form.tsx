import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface LabellerFormProps {
  readonly name: string | undefined;
  readonly onName: (name: string) => void;
  /** Undefined if there is no previous name. */
  readonly onCancel: (() => void) | undefined;
}

/** Asks for the labeller's name. */
export function LabellerForm({ name, onName, onCancel }: LabellerFormProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isRefused, setRefused] = useState(false);
  useLayoutEffect(() => input.current?.focus(), []);
  const submit = (event: Event) => {
    event.preventDefault();
    const cleaned = cleanName(input.current?.value ?? '');
    if (cleaned !== undefined) return onName(cleaned);
    setRefused(true);
    input.current?.focus();
  };
  return (
    <section class="label-page">
      <h2>Label</h2>
      <form class="label-name" noValidate onSubmit={submit}>
        <label for="label-name">Your name</label>
        <input
          id="label-name"
          ref={input}
          defaultValue={name ?? ''}
          required
          maxLength={longestName}
          autocomplete="name"
          aria-invalid={isRefused}
          aria-describedby="label-name-error label-name-hint"
          onInput={() => setRefused(false)}
        />
        <div id="label-name-error" class="label-alert" role="alert">
          {isRefused && <p class="label-error">Enter your name to start.</p>}
        </div>
        <p id="label-name-hint" class="label-hint">
          Your name is saved with your answers and in this browser.
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

/** Storage between visits, such as the browser's localStorage. */
export type Memory = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const nameKey = 'proximal.labeller';

/** Longest name in characters. */
const longestName = 40;

/** Control characters and characters that change the text direction. */
const controls = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/gu;

/** The browser's storage, or one that lasts as long as the page if the browser forbids it. */
export function browserMemory(): Memory {
  try {
    return window.localStorage;
  } catch {
    return pageMemory();
  }
}

/** Storage that lasts as long as the page. */
export function pageMemory(): Memory {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}

/** The saved name of the labeller, if any. */
export function readName(memory: Memory): string | undefined {
  return cleanName(memory.getItem(nameKey) ?? '');
}

export function saveName(memory: Memory, name: string): void {
  memory.setItem(nameKey, name);
}

/** Normalises a name as the server does: composed characters, no control characters, no extra spaces.
 *  Undefined if nothing remains.
 *  @example '  Ada   Lovelace '  →  'Ada Lovelace' */
export function cleanName(text: string): string | undefined {
  const line = text.normalize('NFC').replace(/\s+/g, ' ').replace(controls, '').trim();
  // Never splits a character: the server would reject it.
  const name = [...line].slice(0, longestName).join('').trimEnd();
  return name === '' ? undefined : name;
}
