import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeTempFolder } from '../../../test/helpers/runtime-temp-folder.ts';
import { pairRows, writeRows } from '../../../test/helpers/stage-setup.ts';
import { makeTrainFolder } from '../../../test/helpers/train-setup.ts';
import { loadPreferences } from '../../data/index.ts';
import { loadModel } from '../../models/index.ts';
import { toTexts } from '../../run/reward-run.ts';
import { RewardTrainer } from '../../stages/index.ts';
import type { LabelChoice, LabelTask, LabelTaskKind } from '../api.ts';
import { LabelStore } from './label-store.ts';

const model = await loadModel(join(await makeTrainFolder(), 'model'));

/** Answers all tasks of a queue of rows, and loads the export as `proximal reward` does. */
async function label(
  rows: readonly object[],
  { kind, answer }: { kind: LabelTaskKind; answer: (task: LabelTask, i: number) => LabelChoice },
) {
  const folder = makeTempFolder();
  const file = writeRows(folder, 'rows.jsonl', rows);
  const store = new LabelStore({ folder: join(folder, 'labels') });
  const { id } = await store.create({ name: 'x', kind, source: { from: 'file', file } });
  for (let i = 0; ; i++) {
    const task = await store.next(id, 'Ada');
    if (task === undefined) break;
    await store.answer(id, { task: task.id, labeller: 'Ada', answer: answer(task, i) });
  }
  const output = join(folder, 'export.jsonl');
  writeFileSync(output, await store.export(id));
  return (options = {}) =>
    loadPreferences(output, model.tokenizer, { validationFraction: 0, ...options });
}

/** Prefers the side with cats. */
const preferCats = ({ responses }: LabelTask): LabelChoice => ({
  kind: 'pair',
  choice: responses.findIndex((text) => text.includes('cat')) as 0 | 1,
});

describe('an export', { timeout: 60_000 }, () => {
  it('of 10 pairs trains a reward model', async () => {
    const load = await label(pairRows().slice(0, 10), { kind: 'pair', answer: preferCats });
    const { train, report } = await load();
    expect(report).toMatchObject({ pairs: 10, ties: 0, bad: 0 });
    for (const { pairs } of train) {
      expect(pairs[0]!.chosenText).toContain('cat');
      expect(pairs[0]!.rejectedText).toBe(' dog dog dog');
    }
    const { pairs } = toTexts(train);
    const trainer = new RewardTrainer(
      { numEpochs: 4, batchSize: 5, learningRate: 1e-2, loraR: 4 },
      { model },
    );
    await trainer.train(pairs);
    expect((await trainer.evaluate(pairs)).accuracy).toBe(1);
  });

  it('keeps ties and leaves out pairs of which both are bad', async () => {
    const answers = ['tie', 'both-bad', 0, 1] as const;
    const load = await label(pairRows().slice(0, 4), {
      kind: 'pair',
      answer: (_, i) => ({ kind: 'pair', choice: answers[i]! }),
    });
    expect((await load()).report).toMatchObject({ pairs: 3, ties: 1, bad: 0 });
  });

  it('of ratings keeps their scale', async () => {
    const rows = [{ prompt: 'the cat', responses: [' runs', ' sees'] }];
    const load = await label(rows, {
      kind: 'rating',
      answer: ({ responses }) => ({ kind: 'rating', rating: responses[0] === ' runs' ? 4 : 1 }),
    });
    const { train } = await load({ ratingMin: 1, ratingMax: 5 });
    const ratings = train.flatMap((group) =>
      group.ratings.map(({ text, rating }) => [text, rating]),
    );
    expect(new Map(ratings as [string, number][])).toEqual(
      new Map([
        [' runs', 0.75],
        [' sees', 0],
      ]),
    );
  });

  it('of rankings has every pair in the right order', async () => {
    const best = [' cat', ' dog', ' runs'];
    const load = await label([{ prompt: 'the', responses: [' runs', ' cat', ' dog'] }], {
      kind: 'ranking',
      answer: ({ responses }) => ({
        kind: 'ranking',
        order: best.map((text) => responses.indexOf(text)),
      }),
    });
    const [group] = (await load()).train;
    const pairs = group!.pairs.map(({ chosenText, rejectedText }) => [chosenText, rejectedText]);
    expect(pairs).toEqual([
      [' cat', ' dog'],
      [' cat', ' runs'],
      [' dog', ' runs'],
    ]);
  });
});
