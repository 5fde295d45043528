import { posix, win32 } from 'node:path';

/** A path from the root, in a text: two names or more, so that a command such as /help is none. */
const paths = /(?<=^|[\s"'`(=:,])(?:(?:\/[^\s/"'`(),:;]+){2,}\/?|[A-Za-z]:[\\/][^\s"'`(),;]+)/g;
/** The same as a whole text, in which names may hold spaces; before it perhaps a word such as `model:`. */
const wholePath = /^([A-Za-z]{2,}:)?((?:\/[^/\n]+){2,}\/?|[A-Za-z]:[\\/][^\n]+)$/;
const credentials = /(\bhttps?:\/\/)[^\s/@]*@/gi;
const queries = /(\bhttps?:\/\/[^\s?#"']+)\?[^\s"']*/gi;

/** A text for other people: of paths only the last name, of addresses neither password nor query.
 *  @example 'model:/home/me/runs/rm=2'  →  'model:rm=2'
 *  @example 'Saved /home/me/a/b.'  →  'Saved b.' */
export function hidePlaces(text: string): string {
  const whole = wholePath.exec(text);
  if (whole !== null) return `${whole[1] ?? ''}${lastName(whole[2]!)}`;
  return text.replace(credentials, '$1').replace(queries, '$1?…').replace(paths, lastName);
}

/** The same for every text in a value of JSON. */
export function hidePlacesIn<T>(value: T): T {
  const hidden: unknown =
    typeof value === 'string'
      ? hidePlaces(value)
      : Array.isArray(value)
        ? value.map(hidePlacesIn)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(
              Object.entries(value).map(([key, part]) => [key, hidePlacesIn(part)]),
            )
          : value;
  return hidden as T;
}

function lastName(path: string): string {
  return path.startsWith('/') ? posix.basename(path) : win32.basename(path);
}
