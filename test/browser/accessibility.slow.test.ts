import { testAccessibility } from '../helpers/accessibility.ts';

testAccessibility([
  ['dark', 'wide'],
  ['light', 'phone'],
]);
