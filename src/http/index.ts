export { messageOf } from './message-of.ts';
export {
  describeStatus,
  type HttpAnswer,
  jsonHeaders,
  sendWithRetries,
} from './send-with-retries.ts';
export {
  hideUrlSecrets,
  stringifyWithoutSecrets,
  withoutEcho,
  withoutPassword,
  withoutSecrets,
} from './url-secrets.ts';
