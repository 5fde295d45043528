import { join } from 'node:path';
import { writeDemoReport } from '../../demo/demo-report.ts';
import { type DemoStage, runDemo } from '../../demo/demo-run.ts';
import { untilInterrupted } from '../interrupt.ts';
import { StageView } from '../stage/stage-view.ts';
import { bold } from '../terminal.ts';
import { TrainView } from '../train/train-view.ts';
import { formatDemo } from './format-demo.ts';

const titles: Readonly<Record<DemoStage, string>> = {
  reward: '1  A reward model learns from pairs of summaries which one people would prefer',
  ppo: '2  PPO teaches the model to write summaries that the reward model scores high',
  gold: '3  A scorer that training never saw judges summaries of new posts',
};

/** Runs the demo and tells what happens. */
export async function showDemo({ output, seed }: { output?: string; seed: number }): Promise<void> {
  const folder = output ?? defaultFolder();
  const views = { reward: new StageView(), ppo: new TrainView(), gold: new TrainView() };
  await untilInterrupted(async (signal) => {
    const result = await runDemo({
      output: folder,
      seed,
      signal,
      onStage: (stage) => process.stderr.write(`\n${bold(titles[stage], process.stderr)}\n`),
      onEvent: (stage, event) => views[stage].handle(event),
    });
    const report = await writeDemoReport(result);
    process.stdout.write(`${formatDemo(result, { report, output: process.stdout })}\n`);
  });
}

function defaultFolder(now = new Date()): string {
  const stamp = now.toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return join('runs', `demo-${stamp}`);
}
