import type { Command } from 'commander';
import { parseConfig } from '../config/parse-config.ts';
import { createFlagsSchema } from './labels/create-flags.ts';
import type { LabelsFlags } from './labels/labels-flags.ts';
import { addSchemaOptions, readSchemaOptions } from './schema-options.ts';

/** `proximal labels`: queues of responses that people label on the dashboard. */
export function addLabels(program: Command): void {
  const labels = program
    .command('labels')
    .summary('List, create and export what people label')
    .description(
      "List the queues of responses that people label on the dashboard, with how far they are and how well people agree: part of the tasks, and Krippendorff's alpha.",
    )
    .option('--labels <folder>', 'Folder of the queues', 'labels')
    .option('--json', 'Print JSON')
    .configureHelp({ showGlobalOptions: true })
    .action(async (flags: LabelsFlags) => {
      const { listQueues } = await import('./labels/list-queues.ts');
      await listQueues(flags);
    });
  addCreate(labels);
  addExport(labels);
}

function addCreate(labels: Command): void {
  const command = labels
    .command('create')
    .summary('Create a queue')
    .description(
      'Create a queue from the samples of a run, from a file, or from fresh responses of a model.',
    );
  addSchemaOptions(command, createFlagsSchema);
  command.action(async () => {
    const given = readSchemaOptions(command, createFlagsSchema);
    const config = parseConfig(createFlagsSchema, given, { name: 'the flags' });
    const { createQueue } = await import('./labels/create-queue.ts');
    await createQueue(config, command.optsWithGlobals<LabelsFlags>());
  });
}

function addExport(labels: Command): void {
  const command = labels
    .command('export')
    .summary('Write the answers of a queue for "proximal reward"')
    .description(
      'Write the answers of a queue as JSON Lines that "proximal reward" reads, a row for each. Pairs of which both are bad are left out.',
    )
    .argument('<queue>', 'Id of the queue')
    .requiredOption('--output <file>', 'File to write; it must not exist')
    .action(async (queue: string, { output }: { readonly output: string }) => {
      const { exportQueue } = await import('./labels/export-queue.ts');
      await exportQueue(queue, { ...command.optsWithGlobals<LabelsFlags>(), output });
    });
}
