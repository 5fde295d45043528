import type { Command } from 'commander';

interface InspectFlags {
  readonly model: string;
  readonly revision?: string;
  readonly json?: boolean;
}

/** `proximal inspect`: what a model is made of and what memory it needs. */
export function addInspect(program: Command): void {
  program
    .command('inspect')
    .summary("Show a model's architecture, parameters and memory")
    .description(
      "Show a model's architecture, its parameters and an estimate of the memory that PPO needs. Weights are not loaded.",
    )
    .requiredOption('--model <model>', 'Folder, or id on the Hugging Face hub')
    .option('--revision <name>', 'Branch, tag or commit on the hub')
    .option('--json', 'Print one JSON object, sizes in bytes')
    .action(inspectModel);
}

async function inspectModel({ model, revision, json }: InspectFlags): Promise<void> {
  const { resolveWithProgress } = await import('./resolve-with-progress.ts');
  const { reportModel } = await import('./inspect/model-report.ts');
  const { formatReport } = await import('./inspect/format-report.ts');
  const folder = await resolveWithProgress(model, { ...(revision !== undefined && { revision }) });
  const report = await reportModel(model, folder);
  const text = json ? JSON.stringify(report) : formatReport(report, process.stdout);
  process.stdout.write(`${text}\n`);
}
