import { ERROR_TABLE } from '../../canonical/errors.ts';
import type { PathItems } from './management-paths.ts';
import { PUBLIC_BODIES } from './public-bodies.ts';
import { PUBLIC_ANSWERS } from './public-responses.ts';
import type { SchemaBook } from './schema-book.ts';

interface PublicRoute {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** Below `/v1`, unless it is a well-known one. */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  /** A call that is billed. Its body and response are those of the vendor whose API the path is from. */
  readonly kind: 'billed' | 'free' | 'public';
  readonly query?: readonly string[];
  /** Our own headers that a route reads, if it is not a call itself. */
  readonly headers?: readonly (keyof typeof REQUEST_HEADERS)[];
  /** The statuses of a success; 200 alone unless it says otherwise. */
  readonly statuses?: readonly (keyof typeof SUCCESSES)[];
  /** For a POST or PUT whose body is not required. */
  readonly body?: 'none' | 'optional';
  /** Which body is JSON Lines: that of the request, which may also be one object, or that of the response. */
  readonly lines?: 'request' | 'response';
}

const SUCCESSES = { 200: 'Done.', 201: 'Created.', 202: 'Accepted.' } as const;
/** What a deferred call takes over from its submission. */
const SUBMISSION_HEADERS = [
  'x-gateway-max-cost-nanousd',
  'x-gateway-chain',
  'x-gateway-requested-model',
  'x-gateway-on-unsupported',
  'idempotency-key',
] as const;

export const WELL_KNOWN = '/.well-known/';

/** The interface for callers. A test compares this list with the routes that are served. */
export const PUBLIC_ROUTES: readonly PublicRoute[] = [
  { method: 'post', path: '/chat/completions', id: 'chat', kind: 'billed', summary: 'A chat completion.' },
  { method: 'post', path: '/messages', id: 'messages', kind: 'billed', summary: 'A message.' },
  { method: 'post', path: '/responses', id: 'responses', kind: 'billed', summary: 'A response.' },
  { method: 'post', path: '/completions', id: 'completions', kind: 'billed', summary: 'A text completion.' },
  { method: 'post', path: '/embeddings', id: 'embeddings', kind: 'billed', summary: 'Embeddings of texts.' },
  { method: 'post', path: '/systemone', id: 'systemone', kind: 'billed', summary: 'A System One call.' },
  { method: 'post', path: '/decisions', id: 'decisions', kind: 'billed', summary: 'A decision.' },
  {
    method: 'post',
    path: '/messages/count_tokens',
    id: 'countMessageTokens',
    kind: 'free',
    summary: 'Counts the tokens of a message.',
  },
  {
    method: 'post',
    path: '/responses/input_tokens',
    id: 'countResponseTokens',
    kind: 'free',
    summary: 'Counts the tokens of a response’s input.',
  },
  {
    method: 'post',
    path: '/quote',
    id: 'quote',
    kind: 'free',
    summary: 'What a call would hold, without making it.',
    headers: ['x-gateway-max-cost-nanousd', 'x-gateway-on-unsupported'],
  },
  { method: 'get', path: '/catalog', id: 'catalog', kind: 'public', summary: 'Models and prices, without a key.' },
  {
    method: 'get',
    path: '/models',
    id: 'models',
    kind: 'free',
    summary: 'The models that the key may use. With the header `messages-version`, in the form of the messages API.',
  },
  { method: 'get', path: '/models/{model}', id: 'model', kind: 'free', summary: 'One model.' },
  { method: 'get', path: '/balance', id: 'balance', kind: 'free', summary: 'The balance of the account and the key.' },
  {
    method: 'get',
    path: '/receipts',
    id: 'receipts',
    kind: 'free',
    summary: 'Receipts, the newest first.',
    query: ['since', 'until', 'model', 'chain', 'after', 'limit'],
  },
  {
    method: 'get',
    path: '/usage',
    id: 'usage',
    kind: 'free',
    summary: 'What the calls of the key, or of its account, have used and cost.',
    query: ['since', 'until', 'bucket', 'group_by', 'metrics', 'model', 'route'],
  },
  {
    method: 'get',
    path: '/receipts/{receipt}',
    id: 'receipt',
    kind: 'free',
    summary: 'One receipt, signed if asked for.',
    query: ['signed', 'proof'],
  },
  {
    method: 'get',
    path: '/receipts/{receipt}/refunds',
    id: 'receiptRefunds',
    kind: 'free',
    summary: 'The signed refunds of a receipt.',
  },
  {
    method: 'get',
    path: `${WELL_KNOWN}tollgate-receipt-keys.json`,
    id: 'receiptKeys',
    kind: 'public',
    summary: 'The public keys that verify signed receipts.',
  },
  { method: 'get', path: '/keys', id: 'storedKeys', kind: 'free', summary: 'The stored provider keys.' },
  { method: 'get', path: '/keys/{provider}', id: 'storedKey', kind: 'free', summary: 'One stored provider key.' },
  {
    method: 'put',
    path: '/keys/{provider}',
    id: 'storeKey',
    kind: 'free',
    summary: 'Verifies and stores a provider key.',
  },
  {
    method: 'delete',
    path: '/keys/{provider}',
    id: 'removeStoredKey',
    kind: 'free',
    summary: 'Removes a stored provider key.',
  },
  { method: 'get', path: '/webhooks', id: 'webhooks', kind: 'free', summary: 'The webhooks of the account.' },
  { method: 'get', path: '/webhooks/{name}', id: 'webhook', kind: 'free', summary: 'One webhook.' },
  {
    method: 'put',
    path: '/webhooks/{name}',
    id: 'putWebhook',
    kind: 'free',
    summary: 'Creates a webhook and shows its secret once, or changes the one with this name.',
    statuses: [200, 201],
  },
  { method: 'delete', path: '/webhooks/{name}', id: 'removeWebhook', kind: 'free', summary: 'Removes a webhook.' },
  {
    method: 'post',
    path: '/webhooks/{name}/rotate',
    id: 'rotateWebhook',
    kind: 'free',
    summary: 'Makes a new secret and shows it once.',
    body: 'optional',
  },
  {
    method: 'post',
    path: '/webhooks/{name}/test',
    id: 'testWebhook',
    kind: 'free',
    summary: 'Sends a test event to a webhook.',
    statuses: [202],
    body: 'none',
  },
  {
    method: 'get',
    path: '/webhooks/{name}/deliveries',
    id: 'webhookDeliveries',
    kind: 'free',
    summary: 'The deliveries of a webhook, the newest first.',
    query: ['after', 'limit'],
  },
  {
    method: 'post',
    path: '/jobs',
    id: 'submitJob',
    kind: 'free',
    summary: 'Accepts a call now and makes it later.',
    headers: SUBMISSION_HEADERS,
    statuses: [202],
  },
  {
    method: 'post',
    path: '/jobs/groups',
    id: 'submitJobGroup',
    kind: 'free',
    summary: 'Accepts many calls, all or none, as JSON Lines or in one object.',
    query: ['not_before', 'expires_at', 'result_ttl_seconds', 'on_unknown', 'webhook'],
    headers: SUBMISSION_HEADERS,
    statuses: [202],
    lines: 'request',
  },
  {
    method: 'get',
    path: '/jobs',
    id: 'jobs',
    kind: 'free',
    summary: 'Deferred jobs, the newest first. With `group`, those of that group in the order of its lines.',
    query: ['status', 'group', 'after', 'limit'],
  },
  {
    method: 'get',
    path: '/jobs/groups',
    id: 'jobGroups',
    kind: 'free',
    summary: 'Groups of jobs, the newest first.',
    query: ['after', 'limit'],
  },
  {
    method: 'get',
    path: '/jobs/groups/{group}/results',
    id: 'jobGroupResults',
    kind: 'free',
    summary: 'The results of a group that has ended, as JSON Lines.',
    query: ['after'],
    lines: 'response',
  },
  {
    method: 'post',
    path: '/jobs/groups/{group}/cancel',
    id: 'cancelJobGroup',
    kind: 'free',
    summary: 'Cancels all unfinished jobs of a group.',
    body: 'none',
  },
  { method: 'get', path: '/jobs/groups/{group}', id: 'jobGroup', kind: 'free', summary: 'One group of jobs.' },
  {
    method: 'get',
    path: '/jobs/{job}/result',
    id: 'jobResult',
    kind: 'free',
    summary: 'The response of the call, with its status and its receipt headers.',
  },
  {
    method: 'post',
    path: '/jobs/{job}/cancel',
    id: 'cancelJob',
    kind: 'free',
    summary: 'Cancels a job.',
    body: 'none',
  },
  {
    method: 'get',
    path: '/jobs/{job}',
    id: 'job',
    kind: 'free',
    summary: 'One job; with `wait`, when it has ended or after this many seconds.',
    query: ['wait'],
  },
  {
    method: 'delete',
    path: '/jobs/{job}',
    id: 'removeJob',
    kind: 'free',
    summary: 'Deletes the stored request and result of a job that has ended.',
  },
];

export function fullPathOf({ path }: Pick<PublicRoute, 'path'>): string {
  return path.startsWith(WELL_KNOWN) ? path : `/v1${path}`;
}

export function publicPaths(book: SchemaBook): PathItems {
  const paths: PathItems = {};
  for (const route of PUBLIC_ROUTES) {
    const path = fullPathOf(route);
    paths[path] = { ...paths[path], [route.method]: operationOf(route, book) };
  }
  return paths;
}

function operationOf(route: PublicRoute, book: SchemaBook): object {
  const { path, id, summary, kind, query = [], headers = [] } = route;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const parameters = [
    ...inPath.map((name) => ({ name, in: 'path', required: true, schema: TEXT })),
    ...query.map((name) => ({ name, in: 'query', required: false, schema: NUMBERS.includes(name) ? NUMBER : TEXT })),
    ...(kind === 'billed' ? Object.keys(REQUEST_HEADERS) : headers).map((name) => ref('parameters', name)),
  ];
  return {
    operationId: id,
    tags: ['calls'],
    summary,
    security: kind === 'public' ? [] : [{ gatewayKey: [] }, { session: [], chosenKey: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...bodyOf(route, book),
    responses: { ...successesOf(route, book), default: ref('responses', 'CallError') },
  };
}

function bodyOf({ method, id, body, lines }: PublicRoute, book: SchemaBook): object {
  if (body === 'none' || method === 'get' || method === 'delete') return {};
  const own = PUBLIC_BODIES[id];
  const json =
    own === undefined ? FREE_FORM : { 'application/json': { schema: book.request(own.schema), example: own.example } };
  const content = lines === 'request' ? { ...json, ...LINES } : json;
  return { requestBody: { required: body !== 'optional', content } };
}

function successesOf(route: PublicRoute, book: SchemaBook): Record<string, object> {
  const { kind, id, statuses = [200] } = route;
  const headers = kind === 'billed' || id === 'jobResult' ? { headers: headerRefs() } : {};
  const description = kind === 'billed' ? 'The vendor’s response, with our headers.' : null;
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      { description: description ?? SUCCESSES[status], ...headers, content: contentOf(route, book) },
    ]),
  );
}

function contentOf({ kind, id, lines }: PublicRoute, book: SchemaBook): object {
  if (kind === 'billed') return { ...FREE_FORM, 'text/event-stream': { schema: TEXT } };
  if (lines === 'response') return LINES;
  const schema = PUBLIC_ANSWERS[id];
  return schema === undefined ? FREE_FORM : { 'application/json': { schema: book.response(schema) } };
}

const TEXT = { type: 'string' };
const NUMBER = { type: 'integer', minimum: 0 };
/** Parameters of a query that are whole numbers. */
const NUMBERS: readonly string[] = ['limit', 'wait', 'result_ttl_seconds'];
const LINES = { 'application/jsonl': { schema: TEXT } };
/** The vendors describe these bodies; docs/api.md says what we add. */
const FREE_FORM = { 'application/json': { schema: { type: 'object', additionalProperties: true } } };

function ref(kind: string, name: string): { $ref: string } {
  return { $ref: `#/components/${kind}/${name}` };
}

function headerRefs(): Record<string, object> {
  return Object.fromEntries(Object.keys(RESPONSE_HEADERS).map((name) => [name, ref('headers', name)]));
}

/** Our own headers of a call. */
export const REQUEST_HEADERS: Readonly<Record<string, { description: string; schema: object }>> = {
  'x-gateway-max-cost-nanousd': {
    description: 'Refuse the call if it could cost more than this many nanodollars.',
    schema: { type: 'integer', format: 'int64', minimum: 0 },
  },
  'x-gateway-chain': {
    description: 'Your own sequence of calls and the place of this one in it, as `<id>;<n>`.',
    schema: { type: 'string', pattern: '^[\\w-]{1,64};[1-9][0-9]?$' },
  },
  'x-gateway-requested-model': {
    description: 'The model of the first call of the chain. It is used only together with a chain.',
    schema: TEXT,
  },
  'x-gateway-on-unsupported': {
    description: 'What happens to fields that cannot be sent to the host.',
    schema: { type: 'string', enum: ['refuse', 'drop'] },
  },
  'x-gateway-receipt-event': {
    description: 'Whether a messages stream ends with an event of ours that has the receipt.',
    schema: TEXT,
  },
  'idempotency-key': {
    description: 'Requests with the same key are charged once; the first response is sent again.',
    schema: TEXT,
  },
};

export const RESPONSE_HEADERS: Readonly<Record<string, { description: string; schema: object }>> = {
  'x-gateway-request-id': { description: 'The id of the request and of its receipt.', schema: TEXT },
  'x-gateway-requested-model': { description: 'The model that was asked for.', schema: TEXT },
  'x-gateway-effective-model': { description: 'The model that answered and was billed.', schema: TEXT },
  'x-gateway-cost-nanousd': {
    description: 'The cost in nanodollars. A stream has it in its last events instead.',
    schema: { type: 'integer', format: 'int64' },
  },
  'x-gateway-cost-components-nanousd': {
    description: 'Four amounts that sum to the cost: `fresh=…,cache_write=…,cache_read=…,output=…`.',
    schema: TEXT,
  },
  'x-gateway-adjusted': { description: 'How the request to the host differs from what the caller sent.', schema: TEXT },
  'x-gateway-hangups': {
    description: 'The loss allowance is used up: hanging up before any content is charged.',
    schema: { type: 'string', const: 'charged' },
  },
};

/** The codes that we send ourselves. A host may add its own. */
export function callErrorCodes(): string[] {
  return [...new Set(Object.values(ERROR_TABLE).map(({ code }) => code))].toSorted();
}
