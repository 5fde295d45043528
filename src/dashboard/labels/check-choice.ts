import type { LabelChoice, LabelTaskKind } from '../api.ts';

/** What is wrong with a choice for a task with so many responses; undefined if nothing is. */
export function findChoiceFault(
  choice: LabelChoice,
  { kind, count }: { readonly kind: LabelTaskKind; readonly count: number },
): string | undefined {
  if (choice.kind !== kind) return `it must be of the kind ${kind}, got ${choice.kind}`;
  if (choice.kind !== 'ranking') return undefined;
  const { order } = choice;
  const given = new Set(order);
  const isWhole = Array.from({ length: count }, (_, place) => place).every((p) => given.has(p));
  if (isWhole && order.length === count) return undefined;
  return `order must list the places of all ${count} responses, 0 to ${count - 1}, each once, got ${JSON.stringify(order.slice(0, 20))}`;
}
