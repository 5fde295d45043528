const months =
  'January February March April May June July August September October November December'.split(
    ' ',
  );
const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** Python's strftime in English, for the directives that chat templates use; local time.
 *  @example 4 July 2024, '%d %b %Y'  →  '04 Jul 2024' */
export function formatTime(time: Date, format: string): string {
  const two = (n: number) => String(n).padStart(2, '0');
  const month = months[time.getMonth()]!;
  const day = days[time.getDay()]!;
  const parts: Readonly<Record<string, string>> = {
    Y: String(time.getFullYear()),
    y: two(time.getFullYear() % 100),
    m: two(time.getMonth() + 1),
    B: month,
    b: month.slice(0, 3),
    d: two(time.getDate()),
    A: day,
    a: day.slice(0, 3),
    H: two(time.getHours()),
    I: two(time.getHours() % 12 || 12),
    p: time.getHours() < 12 ? 'AM' : 'PM',
    M: two(time.getMinutes()),
    S: two(time.getSeconds()),
    '%': '%',
  };
  return format.replace(/%(.)/g, (directive, letter: string) => parts[letter] ?? directive);
}
