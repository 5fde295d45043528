/** What a formula can read about a response. */
interface FormulaText {
  readonly prompt: string;
  readonly response: string;
  /** Number of tokens. */
  readonly tokens: number;
}

type Evaluate = (text: FormulaText) => number;

/** Numbers of a response, by name. */
const variables: Readonly<Record<string, Evaluate>> = {
  words: ({ response }) => wordsOf(response).length,
  unique: ({ response }) => new Set(wordsOf(response)).size,
  characters: ({ response }) => Array.from(response.trim()).length,
  sentences: ({ response }) => (response.match(/[^.!?]+[.!?]*/g) ?? []).filter(hasText).length,
  tokens: ({ tokens }) => tokens,
};

/** Functions of numbers, by name. */
const functions: Readonly<Record<string, (...numbers: number[]) => number>> = {
  min: Math.min,
  max: Math.max,
  abs: Math.abs,
  sqrt: Math.sqrt,
  log: Math.log,
  exp: Math.exp,
};

/** Functions of a quoted text: how a response contains it, ignoring case. */
const searches: Readonly<Record<string, (response: string, part: string) => number>> = {
  count: (response, part) => response.split(part).length - 1,
  has: (response, part) => Number(response.includes(part)),
  starts: (response, part) => Number(response.startsWith(part)),
  ends: (response, part) => Number(response.endsWith(part)),
};

/** The names that a formula may use, for help texts. */
export const formulaNames = {
  variables: Object.keys(variables),
  functions: Object.keys(functions),
  searches: Object.keys(searches),
};

/** Most characters and most nested parentheses of a formula. */
const LIMITS = { length: 500, depth: 30 };

/**
 * Compiles a formula that scores a response. It is parsed, never run as code, so it can only compute
 * numbers from the response.
 * @example compileFormula('has("please") - words / 20')
 *   of 'Please call me'  →  1 − 3/20 = 0.85
 */
export function compileFormula(source: string): Evaluate {
  const parser = new FormulaParser(source);
  const evaluate = parser.parse();
  return (text) => {
    const score = evaluate(text);
    if (Number.isFinite(score)) return score;
    throw new RangeError(
      `Cannot score with the formula: it must be a number for every response, got ${score} for ${JSON.stringify(text.response.slice(0, 60))}; avoid dividing by 0`,
    );
  };
}

type Token =
  | { readonly kind: 'number'; readonly value: number; readonly at: number }
  | { readonly kind: 'text'; readonly value: string; readonly at: number }
  | { readonly kind: 'name' | 'sign'; readonly value: string; readonly at: number }
  | { readonly kind: 'end'; readonly value: ''; readonly at: number };

const tokenPattern =
  /\s*(?:(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+)|"([^"]*)"|([a-z]+)|(<=|>=|==|!=|&&|\|\||[-+*/^()<>?:,!]))/iy;

function readTokens(source: string): Token[] {
  if (source.length > LIMITS.length) {
    throw fail(`it must have at most ${LIMITS.length} characters, got ${source.length}`);
  }
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  while (source.slice(tokenPattern.lastIndex).trim() !== '') {
    const start = tokenPattern.lastIndex;
    const match = tokenPattern.exec(source);
    if (match === null) {
      const rest = source.slice(start).trim();
      throw fail(`it must consist of numbers, names, "texts" and signs, got ${quote(rest)}`);
    }
    const [, number, text, name, sign] = match;
    const at = start + 1;
    if (number !== undefined) tokens.push({ kind: 'number', value: Number(number), at });
    else if (text !== undefined) tokens.push({ kind: 'text', value: text.toLowerCase(), at });
    else if (name !== undefined) tokens.push({ kind: 'name', value: name.toLowerCase(), at });
    else tokens.push({ kind: 'sign', value: sign!, at });
  }
  return [...tokens, { kind: 'end', value: '', at: source.length + 1 }];
}

type Operator = (a: number, b: number) => number;

/** Binary operators from the weakest to the strongest. */
const levels: readonly Readonly<Record<string, Operator>>[] = [
  { '||': (a, b) => Number(a !== 0 || b !== 0) },
  { '&&': (a, b) => Number(a !== 0 && b !== 0) },
  {
    '<': (a, b) => Number(a < b),
    '<=': (a, b) => Number(a <= b),
    '>': (a, b) => Number(a > b),
    '>=': (a, b) => Number(a >= b),
    '==': (a, b) => Number(a === b),
    '!=': (a, b) => Number(a !== b),
  },
  { '+': (a, b) => a + b, '-': (a, b) => a - b },
  { '*': (a, b) => a * b, '/': (a, b) => a / b },
];

/** A recursive-descent parser that builds the function directly. */
class FormulaParser {
  private readonly tokens: readonly Token[];
  private position = 0;
  private depth = 0;

  constructor(source: string) {
    this.tokens = readTokens(source);
  }

  parse(): Evaluate {
    if (this.peek().kind === 'end') throw fail('it must not be empty, such as 1 - words / 20');
    const formula = this.choice();
    if (this.peek().kind !== 'end') throw this.unexpected('an operator');
    return formula;
  }

  /** condition ? a : b */
  private choice(): Evaluate {
    if (++this.depth > LIMITS.depth) throw fail('it must have fewer nested parentheses');
    const condition = this.binary(0);
    let result = condition;
    if (this.accept('?')) {
      const yes = this.choice();
      this.expect(':');
      const no = this.choice();
      result = (text) => (condition(text) !== 0 ? yes(text) : no(text));
    }
    this.depth--;
    return result;
  }

  private binary(level: number): Evaluate {
    const operators = levels[level];
    if (operators === undefined) return this.unary();
    let left = this.binary(level + 1);
    for (;;) {
      const { kind, value } = this.peek();
      const operator = kind === 'sign' && Object.hasOwn(operators, value) && operators[value];
      if (!operator) return left;
      this.position++;
      const [a, b] = [left, this.binary(level + 1)];
      left = (text) => operator(a(text), b(text));
    }
  }

  private unary(): Evaluate {
    if (++this.depth > LIMITS.depth) throw fail('it must have fewer nested parentheses');
    let result: Evaluate;
    if (this.accept('-')) {
      const operand = this.unary();
      result = (text) => -operand(text);
    } else if (this.accept('!')) {
      const operand = this.unary();
      result = (text) => Number(operand(text) === 0);
    } else result = this.power();
    this.depth--;
    return result;
  }

  private power(): Evaluate {
    const base = this.primary();
    if (!this.accept('^')) return base;
    const exponent = this.unary();
    return (text) => base(text) ** exponent(text);
  }

  private primary(): Evaluate {
    const token = this.peek();
    if (token.kind === 'number') {
      this.position++;
      return () => token.value;
    }
    if (this.accept('(')) {
      const inside = this.choice();
      this.expect(')');
      return inside;
    }
    if (token.kind !== 'name') throw this.unexpected('a number, a name or (');
    this.position++;
    return this.named(token.value);
  }

  private named(name: string): Evaluate {
    if (Object.hasOwn(searches, name)) return this.search(searches[name]!);
    if (Object.hasOwn(functions, name)) {
      const call = functions[name]!;
      const operands = this.operands();
      return (text) => call(...operands.map((operand) => operand(text)));
    }
    if (Object.hasOwn(variables, name)) return variables[name]!;
    const known = Object.values(formulaNames).flat().join(', ');
    throw fail(`names must be ${known}, got ${quote(name)}`);
  }

  private search(find: (response: string, part: string) => number): Evaluate {
    this.expect('(');
    const token = this.peek();
    if (token.kind !== 'text' || token.value === '') throw this.unexpected('a text in quotes');
    this.position++;
    this.expect(')');
    return ({ response }) => find(response.trim().toLowerCase(), token.value);
  }

  private operands(): Evaluate[] {
    this.expect('(');
    const operands = [this.choice()];
    while (this.accept(',')) operands.push(this.choice());
    this.expect(')');
    return operands;
  }

  private peek(): Token {
    return this.tokens[this.position]!;
  }

  private accept(sign: string): boolean {
    const { kind, value } = this.peek();
    const isNext = kind === 'sign' && value === sign;
    if (isNext) this.position++;
    return isNext;
  }

  private expect(sign: string): void {
    if (!this.accept(sign)) throw this.unexpected(sign);
  }

  private unexpected(expected: string): Error {
    const { kind, value, at } = this.peek();
    const got = kind === 'end' ? 'its end' : quote(String(value));
    return fail(`there must be ${expected} at position ${at}, got ${got}`);
  }
}

function fail(problem: string): SyntaxError {
  return new SyntaxError(`Cannot read the formula: ${problem}`);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}…` : text);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}\p{N}]+)*/gu) ?? [];
}

function hasText(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
