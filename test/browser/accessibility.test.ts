import { testAccessibility } from '../helpers/accessibility.ts';

testAccessibility([
  ['light', 'wide'],
  ['dark', 'phone'],
]);
