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
