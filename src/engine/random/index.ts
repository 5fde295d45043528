export {
  type RandomState,
  type RandomStream,
  randomStream,
  type StreamKey,
} from './random-stream.ts';
