import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { root } from './doc-snippets.ts';

export const clusterFolder = join(root, 'examples/cluster');

export const readCluster = (file: string) => readFileSync(join(clusterFolder, file), 'utf8');

/** A container of either platform: its arguments, environment and seconds to stop. */
export interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, unknown>>;
  readonly grace: number | undefined;
  readonly hostname: string | undefined;
}

interface ComposeService {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
  readonly hostname?: string;
}

/** The services of compose.yaml. */
export function composeContainers(): Record<string, Container> {
  const { services } = parse(readCluster('compose.yaml'), { merge: true }) as {
    services: Record<string, ComposeService>;
  };
  const containers = Object.entries(services).map(([name, service]) => {
    const { image, command, environment, stop_grace_period, hostname } = service;
    const minutes = Number(/^(\d+)m$/.exec(stop_grace_period ?? '')?.[1]);
    const grace = stop_grace_period === undefined ? undefined : 60 * minutes;
    // Compose reads $$ as one dollar sign.
    const args = command.map((part) => part.replaceAll('$$', '$'));
    return [name, { image, args, env: environment, grace, hostname }] as const;
  });
  return Object.fromEntries(containers);
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly ports?: readonly { readonly port: number }[];
    readonly template?: { readonly spec: PodSpec };
  };
}

interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
  readonly hostname?: string;
  readonly containers: readonly {
    readonly image: string;
    readonly args: readonly string[];
    readonly env: readonly {
      readonly name: string;
      readonly value?: string;
      valueFrom?: unknown;
    }[];
  }[];
}

export function kubernetesManifests(): Manifest[] {
  return parseAllDocuments(readCluster('kubernetes.yaml')).map((document) => document.toJS());
}

/** The containers of kubernetes.yaml. */
export function kubernetesContainers(): Record<string, Container> {
  const containers = kubernetesManifests().flatMap(({ metadata, spec }) => {
    if (spec.template === undefined) return [];
    const { hostname, terminationGracePeriodSeconds: grace, containers } = spec.template.spec;
    const { image, args, env } = containers[0]!;
    const values = env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]);
    return [[metadata.name, { image, args, env: Object.fromEntries(values), grace, hostname }]];
  });
  return Object.fromEntries(containers);
}
