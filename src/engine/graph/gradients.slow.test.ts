import { describe } from 'vitest';
import {
  testFunctionGradients,
  testOpGradients,
} from '../../../test/helpers/engine/test-gradients.ts';

describe('gradients of ops in many samples', () => {
  testOpGradients(40);
});

describe('gradients of functions in many samples', () => {
  testFunctionGradients(40);
});
