export * from './engine/index.ts';
export { version } from './version.ts';
