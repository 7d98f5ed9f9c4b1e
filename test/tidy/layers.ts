/** A layer of src/: a folder, or a part of one. The rows are ordered from the top down. */
export interface Layer {
  readonly name: string;
  /** Layers below, or single files of them. `limits.ts` is open to all. */
  readonly mayImport: readonly string[] | 'everything';
  /** What it is, in a phrase. */
  readonly about: string;
  /** The folder is agreed on but not there yet. */
  readonly planned?: true;
}

const PROTOCOLS = ['json', 'kit'];
const PLAIN = ['canonical', ...PROTOCOLS];
/** What services are built on. */
const BASE = ['catalog', 'egress', 'store', 'money', ...PLAIN];
const SERVICES = ['hosts', 'ledger', 'accounts', 'custody'];

export const LAYERS: readonly Layer[] = [
  {
    name: 'main',
    mayImport: 'everything',
    about: 'The composition root. Only it builds services and picks a store engine and a transport.',
  },
  {
    name: 'http',
    mayImport: [
      'operator',
      'jobs',
      'webhooks',
      'signing',
      'gateway',
      'ledger',
      'accounts',
      'custody',
      'catalog',
      'canonical',
      'http1/server.ts',
      'http1/headers.ts',
      'http1/host-field.ts',
      ...PROTOCOLS,
    ],
    about: "The callers' routes, the checks before them, health and metrics.",
  },
  {
    name: 'cli',
    mayImport: ['operator', 'config', 'ledger', 'signing', 'custody/master-keys.ts', 'catalog', 'money', ...PLAIN],
    about: 'The commands, one file each.',
  },
  {
    name: 'manage',
    mayImport: [
      'signin',
      'operator',
      'jobs',
      'webhooks',
      'gateway',
      ...SERVICES,
      'catalog',
      'canonical',
      'http1',
      ...PROTOCOLS,
    ],
    about: 'The management API: its routes, and who may use which.',
  },
  {
    name: 'signin',
    mayImport: ['operator', 'accounts', 'store', ...PLAIN],
    about: 'How people prove who they are: passwords, invitations, single sign-on, sessions.',
  },
  {
    name: 'operator',
    mayImport: [...SERVICES, 'alerts', 'webhooks', 'signing', 'jobs/jobs.ts', 'catalog', 'store', 'money', ...PLAIN],
    about: 'Every management verb, typed. The CLI and the control socket call it.',
  },
  {
    name: 'config',
    mayImport: ['hosts', 'custody/master-keys.ts', 'catalog', 'http1/client-address.ts', ...PROTOCOLS],
    about: 'The config file and the variables: schema, loading, checks.',
  },
  {
    name: 'jobs',
    mayImport: ['gateway', ...SERVICES, 'wires', ...BASE],
    about: 'Deferred jobs: accepted and reserved now, run later. Only this layer reserves, starts and finishes jobs.',
  },
  {
    name: 'gateway',
    mayImport: [...SERVICES, 'catalog', 'wires', 'store', 'money', 'http1/headers.ts', ...PLAIN],
    about: 'The call path: understand, admit, hold, relay, settle. Only `exchange.ts` calls hold, settle and release.',
  },
  {
    name: 'hosts',
    mayImport: BASE,
    about: "The providers' hosts as rows of data, their health, and which one is called.",
  },
  { name: 'ledger', mayImport: BASE, about: 'Holds, settlements and credits, in batches.' },
  { name: 'accounts', mayImport: BASE, about: 'Accounts, keys, authentication.' },
  { name: 'custody', mayImport: BASE, about: "Callers' own provider keys, sealed." },
  {
    name: 'alerts',
    mayImport: BASE,
    about: 'Conditions that somebody should know about: detected, raised once, resolved.',
  },
  { name: 'webhooks', mayImport: BASE, about: 'URLs that events are sent to: targets, signatures, deliveries.' },
  {
    name: 'signing',
    mayImport: ['store', ...PLAIN],
    about: 'Signed receipts: the keys, what is signed, and how it is verified.',
  },
  {
    name: 'store/<engine>',
    mayImport: ['store', 'money', ...PLAIN],
    about: 'The engines (SQLite, PostgreSQL, memory), the rules they share, the migrations. Only `main` imports them.',
  },
  { name: 'store', mayImport: ['money', ...PLAIN], about: "The store's interface, and what every engine needs." },
  {
    name: 'wires/registry.ts',
    mayImport: ['wires/<wire>', 'wires', 'canonical'],
    about: 'The list of all wires.',
  },
  {
    name: 'wires/prompt-texts.ts',
    mayImport: ['wires/<wire>', 'wires', 'canonical', 'json'],
    about: 'The texts of a prompt, for every wire. The counting thread loads it without the rest of the registry.',
  },
  {
    name: 'wires/<wire>',
    mayImport: ['wires', ...PLAIN],
    about: 'One wire protocol per folder. No wire imports another.',
  },
  {
    name: 'wires',
    mayImport: PLAIN,
    about: 'The interface of a wire, and what wires share: `frames/`, `fields/`, `usage/`, `errors/`.',
  },
  { name: 'catalog', mayImport: ['money', ...PLAIN], about: 'Models and their prices.' },
  {
    name: 'egress',
    mayImport: ['http1', 'money', ...PLAIN],
    about:
      'Outgoing requests: connection pools, and the guard for URLs that callers give. `hosts` and `custody` use its `sender.ts`.',
  },
  {
    name: 'money',
    mayImport: ['canonical', 'kit'],
    about: 'Cost, worst case, token bounds. Amounts are `bigint` nanodollars.',
  },
  {
    name: 'canonical',
    mayImport: ['kit'],
    about: 'Plain data: requests, events, usage, receipt, the table of errors.',
  },
  {
    name: 'sim',
    mayImport: PROTOCOLS,
    about: 'The simulated upstream. It shares no code with `wires`, so that one mistake cannot hide in both.',
  },
  { name: 'http1', mayImport: ['kit'], about: 'HTTP/1.1, server and client. It knows nothing about this product.' },
  { name: 'json', mayImport: ['kit'], about: 'JSON on bytes: scanning, editing, bounds.' },
  { name: 'kit', mayImport: [], about: 'Clock, ids, batcher, SSE, log, threads.' },
  {
    name: 'limits.ts',
    mayImport: ['management-limits.ts', 'job-limits.ts', 'store-limits.ts', 'worker-limits.ts'],
    about: 'Every limit of the product. Open to all layers.',
  },
  { name: 'management-limits.ts', mayImport: [], about: 'The part of `limits.ts` about people and management.' },
  { name: 'job-limits.ts', mayImport: [], about: 'The part of `limits.ts` about deferred jobs.' },
  { name: 'store-limits.ts', mayImport: [], about: 'The part of `limits.ts` about the ledger and its store.' },
  { name: 'worker-limits.ts', mayImport: [], about: 'The part of `limits.ts` about gateways with several workers.' },
];

/** Folders of src/wires/ that are not wires. */
const SHARED_BY_WIRES = ['frames', 'fields', 'usage', 'errors'];

/** Files that know every wire. */
const LISTS_OF_WIRES = ['wires/registry.ts', 'wires/prompt-texts.ts'];

export function layerOf(path: string): string {
  const [, first = '', second = '', ...deeper] = path.split('/');
  const isInFolder = deeper.length > 0;
  if (LISTS_OF_WIRES.some((list) => path === `src/${list}`)) return path.replace('src/', '');
  if (first === 'store') return isInFolder ? 'store/<engine>' : 'store';
  if (first === 'wires') return isInFolder && !SHARED_BY_WIRES.includes(second) ? 'wires/<wire>' : 'wires';
  return first;
}

/** Null if the import is allowed, otherwise why it is not. */
export function refusalOfImport(from: string, to: string): string | null {
  const own = layerOf(from);
  const other = layerOf(to);
  const layer = LAYERS.find(({ name }) => name === own);
  if (layer === undefined) return `${own} has no row in test/tidy/layers.ts`;
  if (layer.mayImport === 'everything' || other === 'limits.ts') return null;
  if (other === own) return refusalWithin(own, partOf(from), partOf(to));
  // Higher layers reach each wire only through the registry.
  const isList = LISTS_OF_WIRES.includes(other) && !own.startsWith('wires');
  const names = [isList ? 'wires' : other, to.replace('src/', '')];
  return layer.mayImport.some((allowed) => names.includes(allowed)) ? null : `${own} may not import ${other}`;
}

const ENGINES = ['sqlite', 'postgres', 'memory'];

function partOf(path: string): string {
  return path.split('/')[2]!;
}

function refusalWithin(layer: string, from: string, to: string): string | null {
  if (from === to) return null;
  if (layer === 'wires/<wire>') return 'no wire imports another';
  const isEngine = layer === 'store/<engine>' && ENGINES.includes(to);
  return isEngine ? 'no engine imports another' : null;
}
