import type { LabelTask } from '../../api.ts';
import type { LabelCommand } from './label-keys.ts';
import type { LabelSession } from './label-session.ts';

/** What every part of a task is given. */
export interface TaskPartProps {
  readonly session: LabelSession;
  readonly task: LabelTask;
  readonly act: (command: LabelCommand) => void;
  readonly isReady: boolean;
}
