/** Refuses columns that do not have one number for each place. */
export function expectColumns(
  columns: Readonly<Record<string, { readonly length: number }>>,
  { action, length }: { readonly action: string; readonly length: number },
): void {
  for (const [name, column] of Object.entries(columns)) {
    if (column.length === length) continue;
    throw new RangeError(
      `Cannot ${action}: ${name} must have ${length} elements, got ${column.length}; give every column the same places`,
    );
  }
}
