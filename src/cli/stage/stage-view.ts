import { TrainView, type TrainViewOptions } from '../train/train-view.ts';
import { describeStageMetrics } from './stage-metrics.ts';

/** Shows the run of a stage, SFT or a reward model, as it goes. */
export class StageView extends TrainView {
  constructor(options: Pick<TrainViewOptions, 'output' | 'now'> = {}) {
    super({ ...options, describeStep: describeStageMetrics });
  }
}
