import { type ConfigField, configFields } from '../../src/config/config-fields.ts';
import { dataConfigSchema } from '../../src/config/data-config.ts';
import { generationConfigSchema } from '../../src/config/generation-config.ts';
import { modelConfigSchema } from '../../src/config/model-config.ts';
import { ppoConfigSchema } from '../../src/config/ppo-config.ts';
import { runConfigSchema } from '../../src/config/run-config.ts';
import { rewardRunConfigSchema, sftRunConfigSchema } from '../../src/config/stage-run-config.ts';
import { trainingConfigSchema } from '../../src/config/training-config.ts';

const introduction = `# Config reference

Every key of every config: a key of a config file, a field of the options in TypeScript, and a flag on the command line (\`batchSize\` is \`--batch-size\`). \`modelName\` may also be called \`model\`, and its flag is \`--model\`. Times are in seconds. \`npm run config-page\` writes this page from the descriptions in \`src/config\`, which \`--help\` prints too; a test checks that it is up to date.`;

/** The Markdown text of docs/config.md. */
export function formatConfigPage(): string {
  const shared = [dataConfigSchema, ppoConfigSchema, trainingConfigSchema];
  const sharedKeys = new Set(shared.flatMap((schema) => Object.keys(schema.shape)));
  const runFields = configFields(runConfigSchema).filter(({ key }) => !sharedKeys.has(key));
  const sections: readonly (readonly [string, readonly ConfigField[]])[] = [
    ['`proximal train`: data', configFields(dataConfigSchema)],
    ['`proximal train`: PPO', configFields(ppoConfigSchema)],
    ['`proximal train`: training', configFields(trainingConfigSchema)],
    ['`proximal train`: run', runFields],
    ['`proximal sft`', configFields(sftRunConfigSchema)],
    ['`proximal reward`', configFields(rewardRunConfigSchema)],
    ['`proximal generate`', configFields(generationConfigSchema)],
    ['`proximal init`', configFields(modelConfigSchema)],
  ];
  const parts = sections.map(([title, fields]) => `## ${title}\n\n${formatTable(fields)}`);
  return `${[introduction, ...parts].join('\n\n')}\n`;
}

function formatTable(fields: readonly ConfigField[]): string {
  const rows = fields.map(
    ({ key, rule, default: standard, description }) =>
      `| \`${key}\` | ${rule} | ${formatDefault(standard)} | ${escapeCell(description)} |`,
  );
  return ['| key | value | default | meaning |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

function formatDefault(standard: unknown): string {
  if (standard === undefined) return 'none';
  if (Array.isArray(standard)) return standard.join(', ') || 'none';
  return String(standard);
}

/** Keeps a description within its cell, and text such as `<time>` visible. */
function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
