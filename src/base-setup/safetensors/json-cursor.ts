import { quote } from './tensor-info.ts';

const maxDepth = 64;
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /[^\s,:[\]{}"]{1,40}|"[^"]{0,40}"?|./suy;

/** Reads JSON text value by value, on demand.
 *
 *  Unlike JSON.parse it detects duplicate keys, and it builds only requested values: a hostile
 *  100 MB text of `{},{},…` costs no memory. */
export class JsonCursor {
  /** What is being read, for errors: `the header`, then `tensor "w"`. */
  subject: string;
  private readonly text: string;
  private readonly file: string;
  private readonly whole: string;
  private at = 0;

  constructor(text: string, { file, whole }: { readonly file: string; readonly whole: string }) {
    this.text = text;
    this.file = file;
    this.whole = whole;
    this.subject = whole;
  }

  /** Calls `onKey` for each entry, which must read the value. */
  object(rule: string, onKey: (key: string) => void): void {
    this.expect('{', rule);
    const keys = new Set<string>();
    this.items('}', () => {
      const key = this.string('a key must be a string');
      if (keys.has(key)) this.fail('a key must be unique', `${quote(key)} twice`);
      keys.add(key);
      if (!this.take(':')) this.failSyntax();
      onKey(key);
    });
  }

  /** Calls `onItem` for each item, which must read it. */
  list(rule: string, onItem: () => void): void {
    this.expect('[', rule);
    this.items(']', onItem);
  }

  string(rule: string): string {
    this.expect('"', rule);
    const start = this.at;
    let escaped = false;
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code === 0x22) break;
      if (code === 0x5c) {
        escaped = true;
        this.at += this.match(escapeSequence)?.length ?? this.failSyntax();
      } else if (code >= 0x20) this.at++;
      else this.failSyntax();
    }
    const raw = this.text.slice(start, this.at++);
    return escaped ? this.unescape(raw) : raw;
  }

  /** A whole number from 0 to 2⁵³ − 1. */
  count(rule: string): number {
    this.space();
    const digits = this.match(/\d{1,16}(?![\w.+-])/y);
    const isPlain = digits !== undefined && (digits === '0' || !digits.startsWith('0'));
    if (!isPlain || Number(digits) > Number.MAX_SAFE_INTEGER) this.fail(rule, this.here());
    this.at += digits.length;
    return Number(digits);
  }

  /** Skips any value. */
  skip(depth = 0): void {
    if (depth > maxDepth) this.fail(`values must nest at most ${maxDepth} deep`, 'more');
    this.space();
    const next = this.text[this.at];
    if (next === '{') this.object('', () => this.skip(depth + 1));
    else if (next === '[') this.list('', () => this.skip(depth + 1));
    else if (next === '"') this.string('');
    else this.at += this.match(scalar)?.length ?? this.failSyntax();
  }

  /** Checks that only white space follows. */
  end(): void {
    this.space();
    if (this.at < this.text.length) this.failSyntax();
  }

  /** Throws an error about the current subject. */
  fail(rule: string, got: string): never {
    throw new SyntaxError(`Cannot read ${this.file}: ${this.subject}: ${rule}, got ${got}`);
  }

  private items(close: string, onItem: () => void): void {
    if (this.take(close)) return;
    do {
      this.space();
      onItem();
    } while (this.take(','));
    if (!this.take(close)) this.failSyntax();
  }

  private expect(open: string, rule: string): void {
    if (!this.take(open)) this.fail(rule, this.here());
  }

  private take(character: string): boolean {
    this.space();
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  private space(): void {
    while (' \n\r\t'.includes(this.text[this.at] ?? '.')) this.at++;
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0];
  }

  /** The value at the cursor, short enough for an error. */
  private here(): string {
    const next = this.text[this.at];
    if (next === '{') return 'an object';
    if (next === '[') return 'a list';
    return this.match(word)?.replace(/\p{Cc}/gu, '\ufffd') ?? 'the end';
  }

  private unescape(raw: string): string {
    const text: string = JSON.parse(`"${raw}"`);
    if (/\p{Surrogate}/u.test(text)) this.fail('text must be Unicode', quote(text));
    return text;
  }

  private failSyntax(): never {
    const [place, got] = [`character ${this.at}`, this.here()];
    throw new SyntaxError(
      `Cannot read ${this.file}: ${this.whole} must be JSON, got ${got} at ${place}`,
    );
  }
}
