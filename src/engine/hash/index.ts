export { Sha256 } from './sha256.ts';
