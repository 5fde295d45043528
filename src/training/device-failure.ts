import { DeviceError } from '../engine/runtime/index.ts';
import { StepError } from '../loop/train-loop.ts';

/** Settings that determine how much of a step is on a device at once. */
export type DevicePlan = Readonly<Record<string, number | undefined>>;

/**
 * The error of a step that a device could not complete. If its memory is full, the error lists the
 * settings that decide how much the step needs. Other errors stay as they are.
 * @example maxTokensAtOnce 1024 and no microBatchSize  →  '…; the step runs with maxTokensAtOnce 1024: lower it, …'
 */
export function explainDeviceFailure(error: unknown, plan: DevicePlan): unknown {
  if (!(error instanceof DeviceError)) return error;
  if (error.kind === 'lost') return new StepError(error.message, { cause: error });
  const settings = Object.entries(plan).filter(([, value]) => value !== undefined);
  const list = settings.map(([name, value]) => `${name} ${value}`).join(', ');
  const what = settings.length === 1 ? 'it' : 'one of them';
  return new StepError(
    `${error.problem}; the step runs with ${list}: lower ${what}, or use device cpu`,
    { cause: error },
  );
}
