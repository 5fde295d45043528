import type { LabelTask } from '../../api.ts';
import type { LabelSession } from './label-session.ts';
import { addPlace, isComplete, takeBack } from './ranking-order.ts';

/** What a key asks for. */
export type LabelCommand =
  | { readonly type: 'pair'; readonly choice: 0 | 1 | 'tie' | 'both-bad' }
  | { readonly type: 'rating'; readonly rating: number }
  | { readonly type: 'rank'; readonly place: number }
  | { readonly type: 'take-back' | 'send' | 'undo' }
  | { readonly type: 'note' };

/** What of a keyboard event matters. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** The key is held down: one press gives one answer. */
  readonly repeat: boolean;
}

/** What has the focus: text is being typed, a button waits for Enter, or nothing of the kind. */
export type Focus = 'text' | 'button' | 'other';

const pairChoices = { 1: 0, 2: 1, 0: 'tie', x: 'both-bad' } as const;

/** The command of a key while a task is shown; undefined where the key means nothing here.
 *  @example '2' at a pair  →  { type: 'pair', choice: 1 } */
export function readKey(
  press: KeyPress,
  { task, focus }: { readonly task: LabelTask | undefined; readonly focus: Focus },
): LabelCommand | undefined {
  if (focus === 'text' || press.repeat || press.altKey) return undefined;
  const key = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  const isShortcut = press.ctrlKey || press.metaKey;
  if (isShortcut ? key === 'z' : key === 'u') return { type: 'undo' };
  if (isShortcut || task === undefined) return undefined;
  if (key === 'n') return { type: 'note' };
  return readAnswerKey(key, { task, focus });
}

function readAnswerKey(
  key: string,
  { task, focus }: { readonly task: LabelTask; readonly focus: Focus },
): LabelCommand | undefined {
  if (task.kind === 'pair') {
    if (!Object.hasOwn(pairChoices, key)) return undefined;
    return { type: 'pair', choice: pairChoices[key as keyof typeof pairChoices] };
  }
  const digit = /^[1-9]$/.test(key) ? Number(key) : undefined;
  if (task.kind === 'rating') {
    return digit !== undefined && digit <= 5 ? { type: 'rating', rating: digit } : undefined;
  }
  if (digit !== undefined && digit <= task.responses.length)
    return { type: 'rank', place: digit - 1 };
  if (key === 'Backspace') return { type: 'take-back' };
  return key === 'Enter' && focus !== 'button' ? { type: 'send' } : undefined;
}

/** What of the page has the focus. */
export function focusOf(target: EventTarget | null): Focus {
  if (!(target instanceof HTMLElement)) return 'other';
  if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return 'text';
  return /^(BUTTON|A|SUMMARY)$/.test(target.tagName) ? 'button' : 'other';
}

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
