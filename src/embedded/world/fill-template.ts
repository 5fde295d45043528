export type Slots = Readonly<Record<string, string>>;

/** Fills the slots of a template and begins each sentence with a capital; an empty slot takes the
 *  space before it away.
 *  @example '{when} {she} {event}.' with when = 'last week', she = 'she', event = 'broke my phone'
 *           →  'Last week she broke my phone.' */
export function fillTemplate(template: string, slots: Slots): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = slots[name];
    if (value === undefined) throw new Error(`Internal: no "${name}" for template "${template}"`);
    return value;
  });
  const spaced = filled
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.?!])/g, '')
    .trim();
  return spaced.replace(/(^|[.?!] )\p{Ll}/gu, (start) => start.toUpperCase());
}
