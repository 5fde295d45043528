import { expect, test } from 'vitest';
import { nearestName } from './parse-config.ts';

const names = ['hiddenSize', 'headDim', 'numLayers', 'dropout'];

test.each([
  ['hiddensize', 'hiddenSize'],
  ['hidden_size', 'hiddenSize'],
  ['hidden-sise', 'hiddenSize'],
  ['head_dimm', 'headDim'],
  ['num_hidden_layers', 'numLayers'],
  ['droput', 'dropout'],
])('nearestName() suggests a name for %s', (name, nearest) => {
  expect(nearestName(name, names)).toBe(nearest);
});

test.each(['learningRate', 'x', ''])('nearestName() suggests nothing for %j', (name) => {
  expect(nearestName(name, names)).toBeUndefined();
});

test('nearestName() suggests nothing from an empty list', () => {
  expect(nearestName('x', [])).toBeUndefined();
});
