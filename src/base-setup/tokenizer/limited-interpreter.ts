import { JinjaInterpreter, type JinjaNode, type JinjaScope, type JinjaValue } from './libraries.ts';

/** Most work of one rendering, in steps. Qwen3's template takes about 250 steps per message. */
const maxSteps = 2_000_000;

/** Most values of one `range()`. */
const maxRange = 100_000;

/**
 * Runs a chat template, which comes with a model and may be anything, in bounded time and memory. Every
 * evaluation is a step. A turn of a loop is 10, even if the loop is empty, and what an expression
 * creates counts too: 4 steps per element of a list and one per 64 characters. A variable is not
 * created, but an operation may look at all of it, so it counts for one step per 64 elements.
 */
export class LimitedInterpreter extends JinjaInterpreter {
  private steps = 0;
  /** The lists that loops run over. */
  private readonly looped = new Set<JinjaNode>();

  override evaluate(node: JinjaNode | undefined, scope: JinjaScope): JinjaValue {
    if (node?.type === 'For' && node.iterable !== undefined) {
      this.looped.add(node.iterable.lhs ?? node.iterable);
    }
    const result = super.evaluate(node, scope);
    this.steps += 1 + countSteps(node, result);
    if (node !== undefined && this.looped.has(node)) this.steps += 10 * sizeOf(result);
    if (this.steps > maxSteps) {
      throw new RangeError(
        `it must take at most ${maxSteps.toLocaleString('en')} steps, got more; shorten its loops`,
      );
    }
    return result;
  }
}

function countSteps(node: JinjaNode | undefined, { value }: JinjaValue): number {
  if (typeof value === 'string') return value.length / 64;
  if (!Array.isArray(value)) return 0;
  return node?.type === 'Identifier' ? value.length / 64 : 4 * value.length;
}

/** Number of elements of a list or object. */
function sizeOf({ value }: JinjaValue): number {
  if (value instanceof Map) return value.size;
  return Array.isArray(value) ? value.length : 0;
}

/** Python's range. */
export function makeRange(first: number, end?: number, step = 1): number[] {
  const [from, to] = end === undefined ? [0, first] : [first, end];
  const length = Math.max(0, Math.ceil((to - from) / step));
  if (length > maxRange) {
    throw new RangeError(
      `range() must have at most ${maxRange.toLocaleString('en')} values, got ${length.toLocaleString('en')}; shorten the loop`,
    );
  }
  return Array.from({ length }, (_, i) => from + i * step);
}
