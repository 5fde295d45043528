import { LabelStore } from '../../dashboard/labels/label-store.ts';
import type { QueueProgress } from '../../dashboard/labels/queue-state.ts';
import { formatTable } from '../inspect/format-table.ts';
import type { LabelsFlags } from './labels-flags.ts';

/** Prints the queues of a folder. */
export async function listQueues({ labels, json }: LabelsFlags): Promise<void> {
  const queues = await new LabelStore({ folder: labels }).list();
  process.stdout.write(`${json ? JSON.stringify(queues) : formatQueues(queues, labels)}\n`);
}

/** A line for each queue.
 *  @example
 *    id           name  kind  answered  agreement  alpha  by
 *    good-3f9a2c  Good  pair   3 of 10       67 %   0.44  Ada 3, Bob 3 */
export function formatQueues(queues: readonly QueueProgress[], folder: string): string {
  if (queues.length === 0) {
    return `No queues in ${folder}; "proximal labels create" makes one`;
  }
  const header = ['id', 'name', 'kind', 'answered', 'agreement', 'alpha', 'by'];
  const rows = queues.map(({ id, name, kind, total, answered, labellers, agreement, alpha }) => [
    id,
    name,
    kind,
    `${answered} of ${total}`,
    agreement === null ? '–' : `${Math.round(100 * agreement)} %`,
    alpha === null ? '–' : alpha.toFixed(2),
    labellers.map((labeller) => `${labeller.name} ${labeller.answers}`).join(', '),
  ]);
  return formatTable([header, ...rows], 'lllrrrl');
}
