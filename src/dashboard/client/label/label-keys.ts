import type { LabelTask } from '../../api.ts';
import type { LabelSession } from './label-session.ts';
import { addResponse, isComplete, removeLast } from './ranking-order.ts';

/** A command of the label page. */
export type LabelCommand =
  | { readonly type: 'pair'; readonly choice: 0 | 1 | 'tie' | 'both-bad' }
  | { readonly type: 'rating'; readonly rating: number }
  | { readonly type: 'rank'; readonly response: number }
  | { readonly type: 'remove-last' | 'send' | 'undo' }
  | { readonly type: 'note' };

/** The relevant part of a keyboard event. */
export interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** Whether the key is held down; only the first event counts. */
  readonly repeat: boolean;
}

/** What has the focus: a text field, a button, or something else. */
export type Focus = 'text' | 'button' | 'other';

const pairChoices = { 1: 0, 2: 1, 0: 'tie', x: 'both-bad' } as const;

/** The command of a key for the shown task; undefined if the key has no meaning.
 *  @example '2' for a pair  →  { type: 'pair', choice: 1 } */
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
    return { type: 'rank', response: digit - 1 };
  if (key === 'Backspace') return { type: 'remove-last' };
  return key === 'Enter' && focus !== 'button' ? { type: 'send' } : undefined;
}

/** What kind of element has the focus. */
export function focusOf(target: EventTarget | null): Focus {
  if (!(target instanceof HTMLElement)) return 'other';
  if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return 'text';
  return /^(BUTTON|A|SUMMARY)$/.test(target.tagName) ? 'button' : 'other';
}

/** Commands for the session; the page handles the others. */
type SessionCommand = Exclude<LabelCommand, { readonly type: 'note' }>;

/** Runs the command of a key or button; resolves when the server has responded. */
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
    if (isComplete(order)) await session.answer({ kind: 'ranking', order: order.responses });
    return;
  }
  session.order.value =
    command.type === 'rank' ? addResponse(order, command.response) : removeLast(order);
  session.announcement.value = describeOrder(session.order.value.responses);
}

/** @example [2, 0]  →  'Order, best first: 3, 1.' */
export function describeOrder(responses: readonly number[]): string {
  if (responses.length === 0) return 'Nothing is ranked yet.';
  return `Order, best first: ${responses.map((response) => response + 1).join(', ')}.`;
}
