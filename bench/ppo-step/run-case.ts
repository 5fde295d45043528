import { observeRuns, type RunRecord } from '../../src/engine/runtime/index.ts';
import { isInexact } from '../../src/generation/index.ts';
import type { PPOComponents } from '../../src/ppo-trainer/components.ts';
import { ppoStep } from '../../src/ppo-trainer/ppo-step.ts';
import { MemoryEstimator } from '../../src/training/memory-estimate.ts';
import { median, round } from '../measure.ts';
import { rawSpeed } from '../raw-product.ts';
import { peakMegabytes, serveUpdates } from '../serve-updates.ts';
import { caseComponents, makePrompts } from './build-components.ts';
import type { CaseRequest } from './cases.ts';
import { neededFlops } from './needed-flops.ts';

type Phase = 'generate' | 'logprobs' | 'reward' | 'value' | 'update';

/** One PPO update: seconds and FLOPs per phase. */
interface StepRecord {
  readonly seconds: number;
  readonly phases: Record<Phase, number>;
  readonly flops: Record<Phase, number>;
  readonly runtimeSeconds: number;
  readonly sequences: Int32Array[];
  readonly responses: number[];
}

/** Measures one case in its own process, one update per request. */
async function serveCase(request: CaseRequest): Promise<void> {
  const components = await caseComponents(request);
  const speeds = [await rawSpeed()];
  const { responses } = await measureStep(components, request);
  const steps: StepRecord[] = [];
  const rss = Math.round(process.memoryUsage.rss() / 2 ** 20);
  await serveUpdates({
    ready: { responses, rss_mb: rss, peak_rss_mb: peakMegabytes() },
    async update() {
      const step = await measureStep(components, request);
      steps.push(step);
      return { seconds: step.seconds, phases: step.phases };
    },
    async finish() {
      const peak = peakMegabytes();
      speeds.push(await rawSpeed());
      const summary = summarize(components, { request, steps, gflops: median(speeds) });
      return { ...summary, peak_rss_mb: peak };
    },
  });
}

/** Every repeat uses the same random streams, so each does the same work. */
async function measureStep(components: PPOComponents, request: CaseRequest): Promise<StepRecord> {
  const meter = new PhaseMeter();
  const end = observeRuns((record) => meter.count(record));
  const start = performance.now();
  const { experience, metrics } = await ppoStep(meter.watch(components), makePrompts(request), {
    step: 1,
  });
  const seconds = (performance.now() - start) / 1000;
  end();
  const { phases, flops, runtimeSeconds } = meter;
  phases.generate = metrics['timing/generate']!;
  phases.update = metrics['timing/update']!;
  const { sequences, offsets, tokens } = experience;
  return {
    ...{ seconds, phases, flops, runtimeSeconds },
    responses: sequences.map((_, i) => offsets[i + 1]! - offsets[i]!),
    sequences: sequences.map(({ promptTokens }, i) =>
      Int32Array.from([...promptTokens, ...tokens.subarray(offsets[i]!, offsets[i + 1]!)]),
    ),
  };
}

/** Attributes time and FLOPs to phases by wrapping the components of a step. */
class PhaseMeter {
  readonly phases = { generate: 0, logprobs: 0, reward: 0, value: 0, update: 0 };
  readonly flops = { generate: 0, logprobs: 0, reward: 0, value: 0, update: 0 };
  runtimeSeconds = 0;
  private phase: Phase = 'generate';

  count({ seconds, flops }: RunRecord): void {
    this.flops[this.phase] += flops;
    this.runtimeSeconds += seconds;
  }

  watch(components: PPOComponents): PPOComponents {
    const { attributor, rewardComputer, valueAdder, modelTrainer } = components;
    const timed = <A extends unknown[], R>(phase: Phase, work: (...args: A) => Promise<R>) => {
      return async (...args: A): Promise<R> => {
        this.phase = phase;
        const start = performance.now();
        const result = await work(...args);
        this.phases[phase] += (performance.now() - start) / 1000;
        return result;
      };
    };
    return {
      ...components,
      attributor: { attribute: timed('logprobs', attributor.attribute.bind(attributor)) },
      rewardComputer: Object.create(rewardComputer, {
        computeRewards: {
          value: timed('reward', rewardComputer.computeRewards.bind(rewardComputer)),
        },
      }),
      valueAdder: { addValues: timed('value', valueAdder.addValues.bind(valueAdder)) },
      modelTrainer: Object.create(modelTrainer, {
        trainStep: { value: timed('update', modelTrainer.trainStep.bind(modelTrainer)) },
      }),
    };
  }
}

/** The estimate that `--dry-run` prints. */
function estimateBytes({ policy, config }: PPOComponents, { prompts }: CaseRequest): number {
  const options = { config, promptLengths: prompts, rewardModels: 1 };
  return new MemoryEstimator(policy.base.architecture, options).estimate(config).peak;
}

interface Measured {
  readonly request: CaseRequest;
  readonly steps: readonly StepRecord[];
  /** Speed of a raw product next to the updates. */
  readonly gflops: number;
}

function summarize(components: PPOComponents, measured: Measured): object {
  const { request, steps, gflops } = measured;
  return {
    estimated_rss_mb: Math.round(estimateBytes(components, request) / 2 ** 20),
    // The needed FLOPs are those of adapters in all layers.
    ...(request.loraLayers === undefined && compareFlops(components, measured)),
    runtime_fraction: round(medianOf(steps, (step) => step.runtimeSeconds / step.seconds)),
    matmul_gflops: round(gflops, 0),
    responses: steps[0]!.responses,
  };
}

/** FLOPs done over FLOPs needed, and the speed of the needed ones as a fraction of a raw product's. */
function compareFlops(
  { policy, config }: PPOComponents,
  { request, steps, gflops }: Measured,
): object {
  const [{ sequences, responses, flops }] = steps as [StepRecord];
  const layers = policy.base.architecture.config.num_hidden_layers;
  const parameters = [...policy.adapter!.weights.values()].reduce((n, w) => n + w.data.length, 0);
  const needed = neededFlops(policy.base, {
    ...{ sequences, epochs: request.epochs, loraParameters: parameters / layers },
    responseTokens: responses.reduce((a, b) => a + b),
    prompts: request.prompts,
    recomputes: isInexact(request.precision),
    reusesPasses: config.keepPasses !== false,
  });
  const total = needed.logprobs + needed.reward + needed.value + needed.update;
  const done = flops.logprobs + flops.reward + flops.value + flops.update;
  const updateSeconds = medianOf(steps, ({ phases }) => phases.update);
  const passSeconds = medianOf(
    steps,
    ({ phases: p }) => p.logprobs + p.reward + p.value + p.update,
  );
  return {
    flops_ratio: round(done / total),
    matmul_fraction: round(needed.update / updateSeconds / 1e9 / gflops),
    passes_matmul_fraction: round(total / passSeconds / 1e9 / gflops),
  };
}

function medianOf(steps: readonly StepRecord[], pick: (step: StepRecord) => number): number {
  return median(steps.map(pick));
}

await serveCase(JSON.parse(process.argv[2]!));
