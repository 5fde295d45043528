import { describe, expect, it } from 'vitest';
import { caseFolder, recordCase } from '../../../test/helpers/oracle-case.ts';
import {
  computeLogits,
  peftFamilies,
  peftFolder,
  readPeftGolden,
} from '../../../test/helpers/peft-golden.ts';
import { randomStream } from '../../engine/random/index.ts';
import { tensor } from '../../engine/runtime/index.ts';
import { transposedModules } from '../../models/decoder/weight-shapes.ts';
import { ValueModel } from '../../models/value-model.ts';
import { LoraAdapter } from './lora-adapter.ts';
import { defaultLoraConfig } from './lora-config.ts';
import { readAdapter, writeAdapter } from './peft-files.ts';

const sequences = [[7, 1, 25, 3, 3, 9], [12], [0, 63]];
const configs = {
  default: defaultLoraConfig,
  all: { r: 3, lora_alpha: 2, target_modules: 'all-linear', use_rslora: true },
  layers: { r: 2, lora_alpha: 4, target_modules: 'all-linear', layers_to_transform: [1] },
} as const;

/** An adapter whose B is not zero. */
function withRandomB(fresh: LoraAdapter): LoraAdapter {
  const random = randomStream(1, 'B');
  const weights = [...fresh.weights].map(([name, { data, shape }]) => {
    const values = name.includes('lora_B') ? data.map(() => 0.3 * random.normal()) : data;
    return [name, tensor(values, shape)] as const;
  });
  return new LoraAdapter(fresh.config, new Map(weights));
}

/** What the tests of a family share. */
async function prepare(family: (typeof peftFamilies)[number]) {
  const { base } = await readPeftGolden(family);
  const source = peftFolder(family, 'base');
  const fanInFanOut = transposedModules(base.architecture).size > 0;
  return { base, source, options: { baseModelNameOrPath: source, fanInFanOut } };
}

// If PROXIMAL_CASES is set, these folders are kept and tools/oracle/peft/check_ours.py opens them with PEFT.
describe.each(peftFamilies)('An adapter that we write for %s', (family) => {
  it.each(['default', 'all', 'layers'] as const)(
    'computes the same after reading: %s',
    async (name) => {
      const { base, source, options } = await prepare(family);
      const adapter = withRandomB(LoraAdapter.create(configs[name], base.modules()));
      const folder = caseFolder(`${family}-adapter-${name}`);
      await writeAdapter(folder, adapter, options);
      const read = await readAdapter(folder, base);
      const logits = await computeLogits(base, sequences, read.adapter);
      expect(logits).toEqual(await computeLogits(base, sequences, adapter));
      expect(logits).not.toEqual(await computeLogits(base, sequences));
      await recordCase(folder, { sequences, logits, base: source });
    },
  );

  it.each(['SEQ_CLS', 'TOKEN_CLS'] as const)(
    'scores the same after reading as %s',
    async (taskType) => {
      const { base, source, options } = await prepare(family);
      const adapter = withRandomB(LoraAdapter.create({ r: 2, lora_alpha: 4 }, base.modules()));
      const size = base.architecture.config.hidden_size;
      const head = tensor(
        Float32Array.from({ length: size }, (_, i) => Math.sin(i)),
        [1, size],
      );
      const module = family === 'gpt2' && taskType === 'TOKEN_CLS' ? 'classifier' : 'score';
      const extraTensors = new Map([[`${module}.weight`, head]]);
      if (taskType === 'TOKEN_CLS') {
        extraTensors.set(`${module}.bias`, tensor(new Float32Array(1), [1]));
      }
      const folder = caseFolder(`${family}-${taskType}`);
      await writeAdapter(folder, adapter, { ...options, taskType, extraTensors });
      const read = await readAdapter(folder, base);
      const model = new ValueModel({ base, adapter, head });
      const again = new ValueModel({
        base,
        adapter: read.adapter,
        head: read.extraTensors.get(`${module}.weight`)!,
      });
      const values = await model.forward(sequences);
      expect(await again.forward(sequences)).toEqual(values);
      const logits = Float32Array.from(values.flatMap((row) => [...row]));
      await recordCase(folder, { sequences, logits, base: source });
    },
  );
});
