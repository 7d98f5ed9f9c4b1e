import type { KeyPermission } from '../../src/store/store.ts';

/**
 * Who may have what, route by route. A route of the gateway that has no row here fails the suite: add one that says how
 * its owner asks, what the owner gets, and what a key of another account and a key for other models get instead.
 */

/** What there is to ask for. */
export interface World {
  /** A receipt of the owner's account. */
  readonly receiptId: string;
}

export interface Ask {
  /** Takes the place of `*` in the route's path. */
  readonly param?: string;
  readonly body?: unknown;
}

export interface Refused {
  readonly status: number;
  readonly code: string;
}

export interface AccessRow {
  /** Anyone may ask, with a key or without. */
  readonly isPublic?: true;
  ask(world: World): Ask;
  /** What the owner gets. */
  readonly owner: number;
  /** What another account gets for the very same request: `own` where nothing in it names anything of the owner's. */
  readonly stranger: 'own' | Refused;
  /** What a key of the owner's account gets that may use none of the models asked for. */
  readonly restricted: 'same' | Refused;
  /** The permission without which a key of the owner's account is refused; absent if every key may ask. */
  readonly permission?: KeyPermission;
}

const MESSAGES = [{ role: 'user', content: 'hello' }];
const NO_MODEL: Refused = { status: 404, code: 'model_not_found' };
const NO_PROVIDER_KEY: Refused = { status: 404, code: 'provider_key_not_found' };

/** A call of a model: everyone may, who may use the model, on their own money. */
function call(body: object): AccessRow {
  return { ask: () => ({ body }), owner: 200, stranger: 'own', restricted: NO_MODEL };
}

const CHAT = { model: 'sim-gpt', messages: MESSAGES };

export const ACCESS: Readonly<Record<string, AccessRow>> = {
  'POST /chat/completions': call(CHAT),
  'POST /messages': call({ model: 'sim-claude', max_tokens: 9, messages: MESSAGES }),
  'POST /messages/count_tokens': call({ model: 'sim-claude', messages: MESSAGES }),
  'POST /responses': call({ model: 'sim-responses', input: 'hello' }),
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
  'GET /models': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /models/*': { ask: () => ({ param: 'sim-gpt' }), owner: 200, stranger: 'own', restricted: NO_MODEL },
  'GET /balance': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /receipts': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /receipts/*': {
    ask: ({ receiptId }) => ({ param: receiptId }),
    owner: 200,
    stranger: { status: 404, code: 'receipt_not_found' },
    restricted: 'same',
  },
  'GET /keys': { ask: () => ({}), owner: 200, stranger: 'own', restricted: 'same' },
  'GET /keys/*': { ask: () => ({ param: 'cloud' }), owner: 200, stranger: NO_PROVIDER_KEY, restricted: 'same' },
  // Nobody's resource is at this address, so nothing is stored; that is said only to who may ask.
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
};

/** What the server answers outside the table of routes: its path, and what who has no key gets in each mode. */
export const OUTSIDE: Readonly<Record<string, { readonly local: number; readonly hosted: number }>> = {
  'HEAD /': { local: 200, hosted: 200 },
  'GET /livez': { local: 200, hosted: 200 },
  'GET /readyz': { local: 200, hosted: 200 },
  // In hosted mode on the operator's own port alone.
  'GET /metrics': { local: 200, hosted: 401 },
};
