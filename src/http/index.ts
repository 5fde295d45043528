export {
  describeStatus,
  type HttpAnswer,
  jsonHeaders,
  messageOf,
  sendWithRetries,
  toTimer,
} from './send-with-retries.ts';
export {
  hideUrlSecrets,
  stringifyWithoutSecrets,
  withoutEcho,
  withoutPassword,
  withoutSecrets,
} from './url-secrets.ts';
