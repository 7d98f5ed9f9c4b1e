import type { KeyPermission } from '../../src/store/store.ts';

/**
 * Who may use each route. A route without a row here fails the suite: add one that says what its owner sends, what the owner
 * gets, and what a key of another account, a key for other models and a key without permissions get instead.
 */

/** What requests can refer to. */
export interface World {
  /** A receipt of the owner's account. */
  readonly receiptId: string;
  /** Jobs of the owner's key that have ended, and a group of them. */
  readonly jobId: string;
  readonly deletedJobId: string;
  readonly groupId: string;
}

interface Ask {
  /** Takes the place of `*` in the route's path. */
  readonly param?: string;
  readonly body?: unknown;
}

export interface Refused {
  readonly status: number;
  readonly code: string;
}

export interface AccessRow {
  /** No key is needed. */
  readonly isPublic?: true;
  ask(world: World): Ask;
  /** The status that the owner gets. */
  readonly owner: number;
  /** What another account gets for the same request: `own` if the request names nothing that belongs to the owner. */
  readonly stranger: 'own' | Refused;
  /** What a key of the owner's account gets if it may not use the requested model. */
  readonly restricted: 'same' | Refused;
  /** Keys of the owner's account without this permission are refused; absent if every key may use the route. */
  readonly permission?: KeyPermission;
  /** What a key without permissions gets, where it may use the route but not for what belongs to another key. */
  readonly unprivileged?: Refused;
}

const MESSAGES = [{ role: 'user', content: 'hello' }];
const NO_MODEL: Refused = { status: 404, code: 'model_not_found' };
const NO_PROVIDER_KEY: Refused = { status: 404, code: 'provider_key_not_found' };
const NO_WEBHOOK: Refused = { status: 404, code: 'webhook_not_found' };
const NO_JOB: Refused = { status: 404, code: 'job_not_found' };
const NO_GROUP: Refused = { status: 404, code: 'job_group_not_found' };
const DENIED: Refused = { status: 403, code: 'permission_denied' };

/** A call: every key that may use the model may make it, and its own account pays. */
function call(body: object): AccessRow {
  return { ask: () => ({ body }), owner: 200, stranger: 'own', restricted: NO_MODEL };
}

const CHAT = { model: 'sim-gpt', messages: MESSAGES };
/** So late that it does not run during the test. */
const LATER = new Date(Date.now() + 86_400_000 / 2).toISOString();
const LATER_JOB = { endpoint: '/v1/chat/completions', body: CHAT, not_before: LATER };
const LINE = { custom_id: 'one', method: 'POST', url: '/v1/chat/completions', body: CHAT };

export const ACCESS: Readonly<Record<string, AccessRow>> = {
  'POST /chat/completions': call(CHAT),
  'POST /messages': call({ model: 'sim-claude', max_tokens: 9, messages: MESSAGES }),
  'POST /messages/count_tokens': call({ model: 'sim-claude', messages: MESSAGES }),
  'POST /responses': call({ model: 'sim-responses', input: 'hello' }),
  'POST /responses/input_tokens': call({ model: 'sim-responses', input: 'hello' }),
  'POST /completions': call({ model: 'sim-gpt', prompt: 'hello' }),
  'POST /embeddings': call({ model: 'sim-embed', input: 'hello' }),
  'POST /systemone': call({ model: 'sim-decide', state: 'hello', questions: { sure: { type: 'noul' } } }),
  'POST /decisions': call({
    model: 'sim-decide',
    input: 'hello',
    questions: [{ type: 'predicate', name: 'sure', instructions: 'Is it?' }],
  }),
  'POST /quote': call({ path: '/v1/chat/completions', body: CHAT }),
  'GET /catalog': { isPublic: true, ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /.well-known/tollgate-receipt-keys.json': {
    isPublic: true,
    ask: () => ({}),
    owner: 200,
    stranger: 'own',
    restricted: 'same',
  },
  'GET /models': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /models/*': { ask: () => ({ param: 'sim-gpt' }), owner: 200, stranger: 'own', restricted: NO_MODEL },
  'GET /balance': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /receipts': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /usage': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /receipts/*': {
    ask: ({ receiptId }) => ({ param: receiptId }),
    owner: 200,
    stranger: { status: 404, code: 'receipt_not_found' },
    restricted: 'same',
    unprivileged: { status: 404, code: 'receipt_not_found' },
  },
  'GET /receipts/*/refunds': {
    ask: ({ receiptId }) => ({ param: receiptId }),
    owner: 200,
    stranger: { status: 404, code: 'receipt_not_found' },
    restricted: 'same',
    unprivileged: { status: 404, code: 'receipt_not_found' },
  },
  'GET /keys': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /keys/*': { ask: () => ({ param: 'cloud' }), owner: 200, stranger: NO_PROVIDER_KEY, restricted: 'same' },
  // This address is forbidden, so nothing is stored.
  'PUT /keys/*': {
    ask: () => ({ param: 'cloud', body: { api_key: 'a-key-of-somebody', base_url: 'https://10.0.0.1/openai/v1' } }),
    owner: 422,
    stranger: 'own',
    restricted: 'same',
    permission: 'provider_keys',
  },
  'DELETE /keys/*': {
    ask: () => ({ param: 'cloud' }),
    owner: 200,
    stranger: NO_PROVIDER_KEY,
    restricted: 'same',
    permission: 'provider_keys',
  },
  'GET /webhooks': webhook({}, 200, 'own'),
  'GET /webhooks/*': webhook({ param: 'hook' }, 200),
  // This address is forbidden, so nothing is stored.
  'PUT /webhooks/*': webhook({ param: 'hook', body: { url: 'https://10.0.0.1/' } }, 400, 'own'),
  'POST /webhooks/*/rotate': webhook({ param: 'hook', body: {} }, 200),
  'POST /webhooks/*/test': webhook({ param: 'hook', body: {} }, 202),
  'GET /webhooks/*/deliveries': webhook({ param: 'hook' }, 200),
  'DELETE /webhooks/*': webhook({ param: 'hook' }, 200),
  'POST /jobs': { ...call(LATER_JOB), owner: 202 },
  'POST /jobs/groups': { ...call({ requests: [LINE], not_before: LATER }), owner: 202 },
  'GET /jobs': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /jobs/groups': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /jobs/*': ownJob(({ jobId }) => jobId),
  'GET /jobs/*/result': ownJob(({ jobId }) => jobId),
  'POST /jobs/*/cancel': { ...ownJob(({ jobId }) => jobId), restricted: DENIED },
  'DELETE /jobs/*': { ...ownJob(({ deletedJobId }) => deletedJobId), restricted: DENIED },
  'GET /jobs/groups/*': ownJob(({ groupId }) => groupId, NO_GROUP),
  'GET /jobs/groups/*/results': ownJob(({ groupId }) => groupId, NO_GROUP),
  'POST /jobs/groups/*/cancel': { ...ownJob(({ groupId }) => groupId, NO_GROUP), restricted: DENIED },
};

/** A job is for the key that submitted it; keys that may read the account see it too. */
function ownJob(param: (world: World) => string, none: Refused = NO_JOB): AccessRow {
  return {
    ask: (world) => ({ param: param(world) }),
    owner: 200,
    stranger: none,
    restricted: 'same',
    unprivileged: none,
  };
}

/** Webhooks are for keys that may manage them, reading included. */
function webhook(ask: Ask, owner: number, stranger: AccessRow['stranger'] = NO_WEBHOOK): AccessRow {
  return { ask: () => ask, owner, stranger, restricted: 'same', permission: 'webhooks' };
}

/** Paths outside the route table, and the status that callers without a key get in each mode. */
export const OUTSIDE: Readonly<Record<string, { readonly local: number; readonly hosted: number }>> = {
  'HEAD /': { local: 200, hosted: 200 },
  'GET /livez': { local: 200, hosted: 200 },
  'GET /readyz': { local: 200, hosted: 200 },
  // In hosted mode metrics are only on the operator's own port.
  'GET /metrics': { local: 200, hosted: 401 },
};
