import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig } from '../src/config/config.ts';
import { LIMITS } from '../src/limits.ts';
import { IMAGE_ENV } from './containerfile.ts';
import { unknownVariables } from './known-variables.ts';
import schema from './kubernetes/schema.json' with { type: 'json' };

/** Compares the manifests of deploy/kubernetes with the schemas of Kubernetes, with each other and with the program. */

const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'deploy/kubernetes');
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [member: string]: unknown;
}

const FILES = readdirSync(FOLDER).filter((name) => name !== 'kustomization.yaml');
const documentsOf = (name: string): Manifest[] =>
  parseAllDocuments(read(name)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });

const DEFINITIONS: Readonly<Record<string, string>> = {
  'apps/v1 Deployment': 'io.k8s.api.apps.v1.Deployment',
  'v1 Service': 'io.k8s.api.core.v1.Service',
  'v1 Secret': 'io.k8s.api.core.v1.Secret',
  'policy/v1 PodDisruptionBudget': 'io.k8s.api.policy.v1.PodDisruptionBudget',
};
const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema({ ...schema, $id: 'kubernetes' });

/** What is wrong with a manifest; empty if nothing is. */
function problemsOf({ apiVersion, kind, ...rest }: Manifest): string[] {
  const definition = DEFINITIONS[`${apiVersion} ${kind}`];
  if (definition === undefined) return [`There is no ${apiVersion} ${kind}.`];
  const check = ajv.getSchema(`kubernetes#/definitions/${definition}`)!;
  if (check({ apiVersion, kind, ...rest })) return [];
  return check.errors!.map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

describe.each(FILES)('%s', (name) => {
  test('has no field and no value that Kubernetes does not know', () => {
    expect(documentsOf(name).flatMap(problemsOf)).toEqual([]);
  });
});

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
}
interface Deployment {
  readonly spec: {
    readonly replicas: number;
    readonly selector: { readonly matchLabels: object };
    readonly template: {
      readonly metadata: { readonly labels: object };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly enableServiceLinks?: boolean;
        readonly containers: readonly Container[];
      };
    };
  };
}

const deployment = parse(read('deployment.yaml')) as Deployment;
const { spec: pod, metadata: podMetadata } = deployment.spec.template;
const container = pod.containers[0]!;
const secrets = documentsOf('secrets.example.yaml') as unknown as readonly {
  readonly metadata: { readonly name: string };
  readonly stringData: Readonly<Record<string, string>>;
}[];
const secretOf = (name: string) => secrets.find(({ metadata }) => metadata.name === name)?.stringData;

/** The variables of a replica, with a database and a key in place of the examples. */
const variables = (): Record<string, string> => {
  const given = container.env.map(({ name, value, valueFrom }) => {
    const reference = valueFrom?.secretKeyRef;
    return [name, value ?? secretOf(reference!.name)![reference!.key]!] as const;
  });
  const providers = container.envFrom.map(({ secretRef }) => secretOf(secretRef.name)!);
  return { ...IMAGE_ENV, ...Object.assign({}, ...providers), ...Object.fromEntries(given) };
};
const config = loadConfig({ argvFlags: {}, env: variables(), cwd: tmpdir() });

/** Changes one member of a copy, by its path; undefined takes it away. */
function changed(manifest: Manifest, path: string, value: Json | undefined): Manifest {
  const copy = structuredClone(manifest);
  const names = path.split('.');
  const last = names.pop()!;
  const place = names.reduce<Record<string, unknown>>((at, name) => at[name] as Record<string, unknown>, copy);
  expect(value === undefined ? last in place : true).toBe(true);
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy;
}

describe('a mistake is found', () => {
  const CONTAINER = 'spec.template.spec.containers.0';
  test.each<[string, string, Json | undefined]>([
    ['deployment.yaml', 'spec.replica', 2],
    ['deployment.yaml', 'spec.replicas', '2'],
    ['deployment.yaml', 'spec.selector', undefined],
    ['deployment.yaml', 'spec.template.spec.terminationGracePeriod', 60],
    ['deployment.yaml', `${CONTAINER}.readinessProb`, {}],
    ['deployment.yaml', `${CONTAINER}.readinessProbe.httpGet.port`, undefined],
    ['deployment.yaml', `${CONTAINER}.livenessProbe.httpGet.url`, '/livez'],
    ['deployment.yaml', `${CONTAINER}.env.1.value`, 9464],
    ['deployment.yaml', `${CONTAINER}.env.2.valueFrom.secretKeyRef.key`, undefined],
    ['deployment.yaml', `${CONTAINER}.securityContext.readOnlyRootFileSystem`, true],
    ['deployment.yaml', 'apiVersion', 'apps/v1beta1'],
    ['service.yaml', 'spec.ports.0.targetport', 'calls'],
    ['disruption-budget.yaml', 'spec.minavailable', 1],
    ['disruption-budget.yaml', 'kind', 'DisruptionBudget'],
  ])('%s with another %s', (name, path, value) => {
    expect(problemsOf(changed(documentsOf(name)[0]!, path, value))).not.toEqual([]);
  });
});

describe('a replica', () => {
  test('serves other people, from PostgreSQL, with variables that the program knows', () => {
    expect(unknownVariables(Object.keys(variables()))).toEqual([]);
    expect(config).toMatchObject({ hosted: true, workers: 1, store: { name: 'PostgreSQL db.example:5432/tollgate' } });
    const written = container.env.filter(({ value }) => value !== undefined).map(({ name }) => name);
    expect(written.filter((name) => /STORE|KEY/.test(name))).toEqual([]);
  });

  test('is not given the variables of its own Service, which set TOLLGATE_PORT to an address', () => {
    const service = parse(read('service.yaml')).metadata.name as string;
    const link = { [`${service.toUpperCase()}_PORT`]: 'tcp://10.96.0.7:80' };
    expect(() => loadConfig({ argvFlags: {}, env: { ...variables(), ...link }, cwd: tmpdir() })).toThrow(
      'TOLLGATE_PORT',
    );
    expect(pod.enableServiceLinks).toBe(false);
  });

  test('is asked for its health on the operations port, which others than itself can reach', () => {
    const ports = new Map(container.ports.map(({ name, containerPort }) => [name, containerPort]));
    const { livenessProbe, readinessProbe, startupProbe } = container;
    for (const { httpGet } of [livenessProbe, readinessProbe, startupProbe])
      expect(ports.get(httpGet.port)).toBe(config.listen.operationsPort);
    expect([livenessProbe, startupProbe, readinessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
      '/livez',
      '/livez',
      '/readyz',
    ]);
    expect(config.listen.operationsHost).toBe('0.0.0.0');
    expect(ports.get('calls')).toBe(config.listen.port);
  });

  test('has the time to end its calls', () => {
    const [program, seconds] = container.lifecycle.preStop.exec.command;
    expect(program).toBe('sleep');
    const { shutdownNoticeMs, shutdownMs } = config.limits;
    const drainMs = Number(seconds) * 1_000 + shutdownNoticeMs + shutdownMs + LIMITS.shutdownReadMs;
    expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(drainMs);
  });

  test('runs the image of this version', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(container.image).toMatch(new RegExp(`/tollgate:${version.replaceAll('.', '\\.')}$`));
  });
});

describe('the manifests fit together', () => {
  test('one replica is left when a node is emptied, and the selectors find them', () => {
    const budget = parse(read('disruption-budget.yaml'));
    const service = parse(read('service.yaml'));
    expect(deployment.spec.replicas).toBe(2);
    expect(budget.spec.minAvailable).toBeLessThan(deployment.spec.replicas);
    for (const labels of [
      deployment.spec.selector.matchLabels,
      budget.spec.selector.matchLabels,
      service.spec.selector,
    ])
      expect(podMetadata.labels).toEqual(labels);
    expect(container.ports.map(({ name }) => name)).toContain(service.spec.ports[0].targetPort);
  });

  test('kubectl apply -k applies all but the example', () => {
    expect(parse(read('kustomization.yaml')).resources.toSorted()).toEqual(
      FILES.filter((name) => !name.includes('example')).toSorted(),
    );
  });

  const kubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
  test.skipIf(!kubectl)('kubectl reads them (skipped where kubectl is missing)', () => {
    const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', FOLDER], { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(
      parseAllDocuments(stdout)
        .map((document) => document.toJS().kind)
        .toSorted(),
    ).toEqual(['Deployment', 'PodDisruptionBudget', 'Service']);
  });
});
