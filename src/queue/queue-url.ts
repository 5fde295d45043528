/** Environment variable with the URL, so that it need not be among the arguments, which others see. */
export const QUEUE_VARIABLE = 'PROXIMAL_QUEUE';
/** Environment variable with the password, so that it need not be in a URL or a config. */
export const PASSWORD_VARIABLE = 'PROXIMAL_QUEUE_PASSWORD';

/** The URL with the password of the environment, if it has none itself. */
export function withPassword(url: string): string {
  const password = process.env[PASSWORD_VARIABLE];
  const parsed = new URL(url);
  if (password !== undefined && parsed.password === '')
    parsed.password = encodeURIComponent(password);
  return parsed.href;
}
