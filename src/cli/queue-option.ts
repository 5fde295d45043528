import { Option } from 'commander';
import { ConfigError } from '../config/parse-config.ts';
import { QUEUE_VARIABLE } from '../queue/queue-url.ts';

/** `--queue`, which the environment can set too. */
export function queueOption(): Option {
  return new Option(
    '--queue <url>',
    'Redis of the queue, such as redis://host:6379/0; rediss:// uses TLS',
  ).env(QUEUE_VARIABLE);
}

/** Checks the URL of a queue. */
export function readQueue(url: string | undefined): string {
  if (url === undefined) {
    throw new ConfigError(
      `Cannot connect: --queue must be set, such as redis://host:6379/0, got nothing; set it or ${QUEUE_VARIABLE}`,
    );
  }
  if (/^rediss?:\/\/\S+$/.test(url) && URL.canParse(url)) return url;
  throw new ConfigError(
    `Cannot connect: --queue must be a URL such as redis://host:6379/0, got another text`,
  );
}
