import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDemoFolder } from '../src/demo/demo-folder.ts';
import { type DemoStage, runDemo } from '../src/demo/demo-run.ts';
import { observeRuns } from '../src/engine/runtime/index.ts';
import { round } from './measure.ts';

interface StageTime {
  seconds: number;
  /** Seconds inside ONNX Runtime. */
  runtime: number;
}

/** Share of the demo's time that is spent inside ONNX Runtime, in total and per stage. */
export async function benchDemoProfile(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'proximal-demo-'));
  const stages = new Map<string, StageTime>();
  let current: StageTime = { seconds: 0, runtime: 0 };
  let began = performance.now();
  const enter = (stage: DemoStage | 'start') => {
    const now = performance.now();
    current.seconds += (now - began) / 1000;
    began = now;
    current = stages.get(stage) ?? { seconds: 0, runtime: 0 };
    stages.set(stage, current);
  };
  enter('start');
  const end = observeRuns(({ seconds }) => {
    current.runtime += seconds;
  });
  try {
    await runDemo(await createDemoFolder(folder), { onStage: enter });
    enter('start');
  } finally {
    end();
    rmSync(folder, { recursive: true });
  }
  const sum = (key: keyof StageTime) =>
    [...stages.values()].reduce((all, one) => all + one[key], 0);
  const fractions = [...stages]
    .filter(([stage]) => stage !== 'start')
    .map(([stage, { seconds, runtime }]) => [
      stage,
      { seconds: round(seconds, 1), runtime_fraction: round(runtime / seconds) },
    ]);
  return {
    seconds: round(sum('seconds'), 1),
    runtime_fraction: round(sum('runtime') / sum('seconds')),
    stages: Object.fromEntries(fractions),
  };
}
