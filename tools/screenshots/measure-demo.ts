import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readAdapter } from '../../src/base-setup/index.ts';
import { openDemoFolder } from '../../src/demo/demo-folder.ts';
import {
  compareGold,
  type GoldComparison,
  type GoldSample,
  scoreSummaries,
} from '../../src/demo/gold-evaluation.ts';
import { embeddedFolder } from '../../src/embedded/embedded-files.ts';
import { loadModel, PolicyModel } from '../../src/models/index.ts';
import { locateRunFiles } from '../../src/run/run-folder.ts';

/** The same posts and length as in the demo itself, so that the numbers are those it prints. */
const POSTS = 200;
const MAX_NEW_TOKENS = 48;

/** What PPO changed in a demo. */
export interface DemoChange {
  /** A post with typical scores, summarised before and after PPO. */
  readonly before: GoldSample;
  readonly after: GoldSample;
  readonly gold: GoldComparison;
  /** The mean reward of each step. */
  readonly rewards: readonly number[];
}

/** Samples summaries of new posts with the model before and after PPO, and scores them.
 *  @param folder of a finished demo */
export async function measureDemo(folder: string): Promise<DemoChange> {
  const { path, seed } = await openDemoFolder(folder);
  const { base, tokenizer } = await loadModel(embeddedFolder);
  const options = { seed, count: POSTS, maxNewTokens: MAX_NEW_TOKENS };
  try {
    const reference = new PolicyModel({ base, tokenizer, batchSize: 32 });
    const before = await scoreSummaries(reference, options);
    await reference.dispose();
    const { adapter } = await readAdapter(join(path, 'ppo/model'), base);
    const policy = new PolicyModel({ base, tokenizer, batchSize: 32, adapter });
    const after = await scoreSummaries(policy, options);
    await policy.dispose();
    const i = typicalPost(before, after);
    return {
      before: before[i]!,
      after: after[i]!,
      gold: compareGold(before, after),
      rewards: await readRewards(join(path, 'ppo')),
    };
  } finally {
    await base.dispose();
  }
}

/** The post whose two scores are closest to the mean scores, so that the example is not flattering.
 *  @example before 0, 1, ½ and after ½, 1, 1  →  the third, since the means are ½ and ⅚ */
export function typicalPost(
  before: readonly Pick<GoldSample, 'score'>[],
  after: readonly Pick<GoldSample, 'score'>[],
): number {
  const means = compareGold(before, after);
  const distances = before.map(
    ({ score }, i) => Math.abs(score - means.before) + Math.abs(after[i]!.score - means.after),
  );
  return distances.indexOf(Math.min(...distances));
}

async function readRewards(run: string): Promise<number[]> {
  const text = await readFile(locateRunFiles(run).metrics, 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line): number => JSON.parse(line)['objective/scores']);
}
