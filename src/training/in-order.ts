/** Results in the order of their jobs, one after another. Remote jobs all start at once. */
export async function* inOrder<T, R>(
  { isRemote = false }: { readonly isRemote?: boolean },
  items: readonly T[],
  run: (item: T, index: number) => Promise<R>,
): AsyncGenerator<R> {
  const started = isRemote ? items.map(run) : [];
  // Each is awaited below; one that fails first must not end the process.
  for (const result of started) result.catch(() => {});
  for (const [i, item] of items.entries()) yield await (started[i] ?? run(item, i));
}
