import { batch, computed, signal } from '@preact/signals';
import { createChartView } from '../dashboard/client/charts/chart-view.ts';
import {
  type AdapterFiles,
  BrowserFolder,
  type OpenedModel,
  type TrainEvent,
  type WebText,
  WebTrainer,
} from '../web/index.ts';
import { PairSource } from './pair-source.ts';
import { createReward, defaultReward, type RewardSettings } from './rewards.ts';
import { MAX_STEPS, MODEL_NAME, makePrompts, runConfig, SEED } from './run-settings.ts';
import { TabRun } from './tab-run.ts';

/** What the page is doing. */
export type Phase =
  | 'loading'
  | 'ready'
  | 'starting'
  | 'running'
  | 'pausing'
  | 'paused'
  | 'ended'
  | 'unusable';

/** Progress of the current step. */
export interface StepProgress {
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

const modelFiles = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'model.safetensors',
];
const adapterNames = ['adapter_config.json', 'adapter_model.safetensors'] as const;

/** Steps between two copies of the adapter in the browser's storage. */
const SAVE_INTERVAL = 5;

/** The state of the playground: the worker, its model, and the run. */
export class PlaygroundState {
  readonly phase = signal<Phase>('loading');
  readonly error = signal<string | undefined>(undefined);
  readonly notice = signal<string | undefined>(undefined);
  readonly bytes = signal(0);
  readonly model = signal<OpenedModel | undefined>(undefined);
  readonly reward = signal<RewardSettings>(defaultReward);
  readonly klCoef = signal(0.05);
  readonly run = signal(new TabRun({}));
  readonly progress = signal<StepProgress | undefined>(undefined);
  /** Responses before any training. */
  readonly untrained = signal<readonly { readonly prompt: string; readonly text: WebText }[]>([]);
  /** Index of the sample whose tokens are shown. */
  readonly openSample = signal<number | undefined>(undefined);
  /** The adapter that the next run starts from, and where it comes from. */
  readonly initial = signal<{ files: AdapterFiles; origin: string } | undefined>(undefined);
  readonly view = createChartView();
  readonly pairs = new PairSource();
  /** Whether a run exists that can be continued or saved. */
  readonly hasRun = computed(() =>
    ['running', 'pausing', 'paused', 'ended'].includes(this.phase.value),
  );
  private readonly worker: Worker;
  private readonly trainer: WebTrainer;
  private readonly storage = new BrowserFolder('proximal/playground');
  /** Settles when the run has ended. */
  private training: Promise<unknown> = Promise.resolve();
  private readonly prompts = makePrompts();

  constructor(worker: Worker) {
    this.worker = worker;
    this.trainer = new WebTrainer(worker);
    void this.open();
  }

  /** Starts a run with the chosen reward. */
  async start(): Promise<void> {
    const { kind } = this.reward.value;
    try {
      const rewards = createReward(this.reward.value, this.pairs);
      const full = runConfig(kind === 'thumbs' ? 'people' : 'function', this.klCoef.value);
      batch(() => {
        this.phase.value = 'starting';
        this.error.value = undefined;
        this.notice.value = undefined;
        this.run.value = new TabRun(full);
      });
      const adapter = this.initial.value?.files;
      const training = { maxSteps: MAX_STEPS, logSamples: 4, logTokens: 4 };
      const onEvent = (event: TrainEvent) => batch(() => this.handle(event));
      const options = { config: full, rewards, adapter, onEvent, ...training };
      const result = this.trainer.train(this.prompts, options);
      this.training = result.catch(() => undefined);
      const { reason } = await result;
      if (reason !== 'interrupted') this.phase.value = 'ended';
    } catch (error) {
      batch(() => {
        this.error.value = (error as Error).message;
        this.phase.value = this.run.value.step.value > 0 ? 'ended' : 'ready';
      });
    }
  }

  async pause(): Promise<void> {
    this.phase.value = 'pausing';
    await this.trainer.pause();
  }

  async resume(): Promise<void> {
    this.phase.value = 'running';
    await this.trainer.resume();
  }

  /** Drops the run and its adapter. */
  async startOver(): Promise<void> {
    this.pairs.cancel();
    await this.trainer.stop();
    await this.training;
    batch(() => {
      this.openSample.value = undefined;
      this.initial.value = undefined;
      this.run.value = new TabRun({});
      this.progress.value = undefined;
      this.phase.value = 'ready';
    });
    await this.store(() => this.storage.remove(adapterNames));
  }

  /** Sets β, for the next step of a run too. */
  async setKlCoef(klCoef: number): Promise<void> {
    this.klCoef.value = klCoef;
    await this.trainer.setKlCoef(klCoef);
  }

  /** The adapter as PEFT saves it. */
  adapter(): Promise<AdapterFiles> {
    return this.trainer.adapter();
  }

  /** Starts the next run from an adapter that was downloaded earlier. */
  useAdapter(files: AdapterFiles, origin: string): void {
    this.initial.value = { files, origin };
  }

  /** Reports a failure of something that the user asked for. */
  report(error: unknown): void {
    this.error.value = (error as Error).message;
  }

  /** Loads the model, and generates a few responses, which also prepares the first step. */
  private async open(): Promise<void> {
    try {
      this.model.value = await this.trainer.open({
        ...{ model: 'model', files: modelFiles, name: MODEL_NAME },
        wasm: { folder: 'ort' },
        onProgress: (bytes) => {
          this.bytes.value = bytes;
        },
      });
      const prompts = this.prompts.slice(0, 3);
      const texts = await this.trainer.generate(prompts, { maxNewTokens: 48, seed: SEED });
      const saved = await this.store(() => this.storage.read(adapterNames));
      batch(() => {
        this.untrained.value = prompts.map((prompt, i) => ({ prompt, text: texts[i]! }));
        if (saved !== undefined) this.initial.value = { files: saved, origin: 'your last visit' };
        this.phase.value = 'ready';
      });
    } catch (error) {
      this.worker.terminate();
      batch(() => {
        this.error.value = (error as Error).message;
        this.phase.value = 'unusable';
      });
    }
  }

  private handle(event: TrainEvent): void {
    if (event.type === 'phase') {
      const { phase, done, total } = event;
      this.progress.value = { phase, done, total };
      if (this.phase.value === 'starting') this.phase.value = 'running';
    } else if (event.type === 'step') {
      this.run.value.add(event);
      if (event.step % SAVE_INTERVAL === 0) void this.saveAdapter();
    } else if (event.type === 'warning') this.notice.value = event.message;
    else if (event.type === 'control') this.handleControl(event.status);
  }

  private handleControl(status: 'paused' | 'waiting' | 'running'): void {
    if (status === 'running') {
      this.phase.value = 'running';
      return;
    }
    this.phase.value = 'paused';
    this.progress.value = undefined;
    void this.saveAdapter();
  }

  /** Copies the adapter into the browser's storage, so that a closed tab loses little. */
  private async saveAdapter(): Promise<void> {
    await this.store(async () => this.storage.write(await this.trainer.adapter()));
  }

  /** Uses the browser's storage; a failure is a notice, because training needs no storage. */
  private async store<T>(action: () => Promise<T>): Promise<T | undefined> {
    try {
      return await action();
    } catch (error) {
      this.notice.value = (error as Error).message;
      return undefined;
    }
  }
}
