/** The byte that each character of a byte-level token stands for, as GPT-2 chose them: printable
 *  Latin-1 characters stand for themselves, the other bytes for characters from U+0100 on.
 *  @example `!` → 0x21, `é` → 0xE9, `Ā` → 0x00, `Ġ` → 0x20 */
export const byteOfCharacter: ReadonlyMap<string, number> = makeByteCharacters();

function makeByteCharacters(): Map<string, number> {
  const map = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    map.set(String.fromCharCode(isPrintable ? byte : next++), byte);
  }
  return map;
}
