import type { LabelCommand } from './label-keys.ts';
import type { LabelSession } from './label-session.ts';
import { addPlace, isComplete, takeBack } from './ranking-order.ts';

/** A command that changes a session; the others are the page's. */
type SessionCommand = Exclude<LabelCommand, { readonly type: 'note' }>;

/** Does what a key or a button asks for; settles when the server has been told. */
export async function performCommand(
  session: LabelSession,
  command: SessionCommand,
): Promise<void> {
  if (command.type === 'undo') return session.undo();
  if (command.type === 'pair') return session.answer({ kind: 'pair', choice: command.choice });
  if (command.type === 'rating') return session.answer({ kind: 'rating', rating: command.rating });
  if (session.state.value !== 'ready') return;
  const order = session.order.value;
  if (command.type === 'send') {
    if (isComplete(order)) await session.answer({ kind: 'ranking', order: order.places });
    return;
  }
  session.order.value = command.type === 'rank' ? addPlace(order, command.place) : takeBack(order);
  session.announcement.value = describeOrder(session.order.value.places);
}

/** @example [2, 0]  →  'Order, best first: 3, 1.' */
export function describeOrder(places: readonly number[]): string {
  if (places.length === 0) return 'Nothing is ranked yet.';
  return `Order, best first: ${places.map((place) => place + 1).join(', ')}.`;
}
