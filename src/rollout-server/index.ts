export {
  RolloutServer,
  type RolloutServerOptions,
  withServerRollouts,
} from './rollout-server.ts';
export type { ConnectionLimits } from './server-connection.ts';
