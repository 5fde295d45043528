import { expect, test } from 'vitest';
import { nearestName } from './nearest-name.ts';

const names = ['hiddenSize', 'headDim', 'numLayers', 'dropout'];

test.each([
  ['hiddensize', 'hiddenSize'],
  ['hidden_size', 'hiddenSize'],
  ['hidden-sise', 'hiddenSize'],
  ['head_dimm', 'headDim'],
  ['num_hidden_layers', 'numLayers'],
  ['droput', 'dropout'],
])('nearestName() finds what %s means', (name, nearest) => {
  expect(nearestName(name, names)).toBe(nearest);
});

test.each(['learningRate', 'x', ''])('nearestName() finds nothing like %j', (name) => {
  expect(nearestName(name, names)).toBeUndefined();
});

test('nearestName() finds nothing where there is nothing', () => {
  expect(nearestName('x', [])).toBeUndefined();
});
