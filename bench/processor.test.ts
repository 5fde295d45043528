import { expect, it } from 'vitest';
import { describeProcessor } from './processor.ts';

it('names the instruction sets that decide the speed of products', () => {
  const cpuinfo =
    'processor\t: 0\nflags\t\t: fpu avx avx2 avx512f avx512_vnni amx_tile amx_int8\nbugs\t: avx512_bf16\n';
  expect(describeProcessor(cpuinfo, { model: 'Intel Xeon ', cores: 2 })).toBe(
    'Intel Xeon, avx2, avx512f, avx512_vnni, amx_int8, 2 cores',
  );
});

it('reads the features of ARM processors', () => {
  const cpuinfo = 'Features\t: fp asimd asimddp i8mm\n';
  expect(describeProcessor(cpuinfo, { model: 'Neoverse', cores: 1 })).toBe(
    'Neoverse, asimd, asimddp, i8mm, 1 core',
  );
});

it('names model and cores if instruction sets are unknown', () => {
  expect(describeProcessor('', { model: 'Apple M3', cores: 8 })).toBe('Apple M3, 8 cores');
});
