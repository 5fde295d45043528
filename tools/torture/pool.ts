/** Things that one case at a time uses, such as processes. */
export class Pool<T> {
  private readonly create: () => Promise<T>;
  private readonly free: T[] = [];

  constructor(create: () => Promise<T>) {
    this.create = create;
  }

  /** Lends one out; creates it if none is free.
   *  @param run returns whether it can be used again */
  async use(run: (item: T) => Promise<boolean>): Promise<void> {
    const item = this.free.pop() ?? (await this.create());
    if (await run(item)) this.free.push(item);
  }
}
