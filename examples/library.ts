/** PPO from code: npx tsx examples/library.ts [model] */
import { PPOTrainer, type RewardSample, rewards } from 'proximal';

const [modelName = 'Qwen/Qwen3-0.6B-Base'] = process.argv.slice(2);

/** 1 if the response asks a question. */
const curious = ({ response }: RewardSample) => Number(response.includes('?'));

const trainer = new PPOTrainer(
  { modelName, maxNewTokens: 24, batchSize: 4, learningRate: 1e-4, klCoef: 0.05 },
  { rewards: { curious, short: { source: rewards.brevity({ target: 12 }), weight: 0.5 } } },
);

const results = await trainer.train(
  ['I bought a boat.', 'My sister called.', 'It rained all week.', 'We are moving soon.'],
  {
    numEpochs: 5,
    validationPrompts: ['I found a key.', 'The train was late.'],
    evalInterval: 0,
    callbacks: [
      (epoch, { avg_reward, kl_div }) =>
        console.log(`epoch ${epoch}: reward ${avg_reward?.toFixed(3)}, KL ${kl_div?.toFixed(3)}`),
    ],
    onEvent: (event) => {
      if (event.type !== 'evaluation') return;
      console.log(`on validation: ${event.report?.performance.reward.toFixed(3)}`);
    },
  },
);

console.log(`${results.message} after ${results.steps} steps`);
await trainer.saveModel('runs/library'); // a LoRA adapter that PEFT loads
await trainer.dispose();
