import { Sha256 } from '../hash/index.ts';
import type { LoweredGraph } from '../onnx/lower.ts';
import type { Backend, BackendSession, SessionSettings } from './backend.ts';

export interface SessionLease {
  readonly session: BackendSession;
  /** Releases the session; the call of the last user frees it. */
  release(): Promise<void>;
}

interface CachedSession {
  readonly session: Promise<BackendSession>;
  users: number;
}

const sessions = new Map<string, CachedSession>();
/** Numbers of things whose identity is part of a session's key. */
const identities = new WeakMap<object, number>();
let nextIdentity = 0;

/** Returns the session of a lowered graph; graphs of equal structure share one. */
export async function leaseSession(
  lowered: LoweredGraph,
  { backend, ...settings }: SessionSettings & { readonly backend: Backend },
): Promise<SessionLease> {
  const key = sessionKey(lowered, { backend, settings });
  const create = async () => (await backend.open()).createSession(lowered, settings);
  const cached = sessions.get(key) ?? { session: create(), users: 0 };
  sessions.set(key, cached);
  cached.users++;
  const release = async () => {
    if (--cached.users > 0) return;
    sessions.delete(key);
    await (await cached.session).release();
  };
  try {
    return { session: await cached.session, release };
  } catch (error) {
    sessions.delete(key);
    throw error;
  }
}

/** Number of open sessions. */
export function countSessions(): number {
  return sessions.size;
}

/** A hash of structure, settings and identity of constants in memory; sessions with equal keys are interchangeable. */
function sessionKey(
  lowered: LoweredGraph,
  { backend, settings }: { readonly backend: Backend; readonly settings: SessionSettings },
): string {
  const hash = new Sha256().update(lowered.bytes).update(JSON.stringify(settings));
  hash.update(`${identityOf(backend)};${lowered.externalFolder ?? ''};`);
  for (const [location, data] of lowered.externalData) {
    hash.update(`${location}:${identityOf(data.buffer)}:${data.byteOffset}:${data.byteLength};`);
  }
  return hash.hex();
}

function identityOf(thing: object): number {
  const identity = identities.get(thing) ?? nextIdentity++;
  identities.set(thing, identity);
  return identity;
}
