import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ListenOptions {
  readonly host: string;
  /** 0 is any free port. */
  readonly port: number;
  /** Ports after it that are tried where it is in use. */
  readonly more: number;
}

/** Has a server listen; gives the port. */
export async function listen(server: Server, { host, port, more }: ListenOptions): Promise<number> {
  for (let next = port; ; next++) {
    const error = await tryListen(server, { host, port: next });
    if (error === undefined) return (server.address() as AddressInfo).port;
    if (error.code !== 'EADDRINUSE' || next === port + more) throw explain(error, { host, port });
  }
}

async function tryListen(
  server: Server,
  address: { readonly host: string; readonly port: number },
): Promise<NodeJS.ErrnoException | undefined> {
  server.listen(address);
  // once() rejects with the event `error`.
  return once(server, 'listening').then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error,
  );
}

function explain(
  error: NodeJS.ErrnoException,
  { host, port }: { readonly host: string; readonly port: number },
): Error {
  const where = `Cannot serve the dashboard on port ${port} of ${host}`;
  if (error.code === 'EADDRINUSE') {
    return new Error(
      `${where}: it must be free, got one in use; choose another with --port, or end what uses it`,
    );
  }
  if (error.code === 'EACCES') {
    return new Error(`${where}: the system does not allow it; choose a --port above 1023`);
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new Error(
      `${where}: the host must be an address of this machine; choose another with --host`,
    );
  }
  return error;
}
