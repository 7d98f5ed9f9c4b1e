import { GatewayError } from '../canonical/errors.ts';
import { EgressFailure, ForbiddenUrl } from '../egress/forbidden-url.ts';
import type { GuardedEgress } from '../egress/guarded-egress.ts';
import type { RequestControl, ResponseReceiver } from '../egress/sender.ts';
import type { Clock } from '../kit/clock.ts';
import { hideSecret } from '../kit/hide-secret.ts';
import type { IdSource } from '../kit/ids.ts';
import { Places } from '../kit/places.ts';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import type { AuditRow } from '../store/people.ts';
import type { ProviderKeyRow, Store } from '../store/store.ts';
import { KeyUses } from './key-use.ts';
import { PROVIDER_ROWS, type ProviderRow } from './providers.ts';
import type { Associated, Sealer } from './seal.ts';
import { describeFailure, providerFailed, type ResourceUrl, readResourceUrl, verifyKey } from './verify.ts';

type ProviderKeyStore = Pick<
  Store,
  | 'putProviderKey'
  | 'noteProviderKeyUse'
  | 'findProviderKey'
  | 'listProviderKeys'
  | 'deleteProviderKey'
  | 'providerKeysAfter'
  | 'resealProviderKey'
>;

interface CustodyTerms {
  readonly store: ProviderKeyStore;
  readonly sealer: Sealer;
  readonly egress: Pick<GuardedEgress, 'vet' | 'recall' | 'request' | 'send'>;
  readonly ids: IdSource;
  readonly clock: Clock;
}

/** The row of the audit for a key that is about to be stored. */
export type KeyAudit = (row: { readonly baseUrl: string; readonly lastFour: string }) => AuditRow;

/** A stored key as its owner sees it. The key itself is never returned. */
export interface StoredKey {
  readonly provider: string;
  readonly baseUrl: string;
  readonly lastFour: string;
  /**
   * `rejected`: the provider refuses the key; see `rejectedMs`. `unreadable`: the key cannot be decrypted, because its
   * master key is missing or its row was changed.
   */
  readonly status: 'verified' | 'rejected' | 'unreadable';
  readonly verifiedMs: number;
  readonly createdMs: number;
  /** When the provider began to refuse the key; null if it does not. */
  readonly rejectedMs: number | null;
  /** When a call last used the key, to the hour: see `LIMITS.providerKeyUseMs`. */
  readonly usedMs: number | null;
}

/** A caller's own resource, ready to be called. Its address and key are not visible outside. */
export interface Resource {
  readonly provider: ProviderRow;
  send(
    path: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    receiver: ResponseReceiver,
  ): RequestControl;
  /** Removes the key from what a provider sent: some quote it. */
  hideKey(text: string): string;
  /** The error for the caller if the resource could not be reached or did not finish its response. */
  explain(failure: Error): GatewayError;
}

/** Callers' own provider keys: verified before they are stored, stored encrypted, and decrypted for each call. */
export class Custody {
  readonly #terms: CustodyTerms;
  readonly #uses: KeyUses;
  /** By account: callers choose the hosts that are asked, and these may take their time. */
  readonly #verifying = new Places(LIMITS.keyVerificationsMax);

  constructor(terms: CustodyTerms) {
    this.#terms = terms;
    this.#uses = new KeyUses(terms.store, terms.clock);
  }

  /** Stored keys whose use is cached. */
  get keysCached(): number {
    return this.#uses.size;
  }

  /** Verifies and stores a key, in place of the previous one. If it throws, nothing was stored. */
  async put(accountId: bigint, slug: string, key: Secret, baseUrl: string, audit?: KeyAudit): Promise<StoredKey> {
    await this.#put({ accountId, provider: slug, baseUrl }, key, audit);
    return this.find(accountId, slug);
  }

  async #put(
    { accountId, provider: slug, baseUrl }: Pick<ProviderKeyRow, 'accountId' | 'provider' | 'baseUrl'>,
    key: Secret,
    audit?: KeyAudit,
    replaces?: bigint,
  ): Promise<void> {
    const { store, sealer, egress, ids, clock } = this.#terms;
    const provider = providerNamed(slug);
    const ask = async (): Promise<ResourceUrl> => {
      const resource = await readResourceUrl(egress, provider, baseUrl);
      await verifyKey(egress, provider, resource.url, key);
      return resource;
    };
    const resource = await this.#verifying.during(accountId, ask, tooManyAtOnce);
    const place = { id: ids.next(), accountId, provider: slug, baseUrl: resource.baseUrl };
    const nowMs = clock.nowMs();
    const row = {
      ...place,
      lastFour: lastFour(key),
      sealed: sealer.seal(Buffer.from(key.reveal()), placeOf(place)),
      createdMs: nowMs,
      verifiedMs: nowMs,
    };
    if ((await store.putProviderKey(row, audit?.(row), replaces)) === 'account_closed') throw accountClosed();
  }

  /**
   * Asks the provider about a stored key again, and stores when it was accepted. Throws if it is refused. A key that was
   * replaced or removed while the provider was asked stays so.
   */
  async verify(accountId: bigint, slug: string, audit?: KeyAudit): Promise<StoredKey> {
    const provider = providerNamed(slug);
    const row = await this.#terms.store.findProviderKey(accountId, slug);
    if (row === null) throw noKey(slug);
    await this.#put(row, new Secret(this.#opened(provider, row)), audit, row.id);
    return this.find(accountId, slug);
  }

  async find(accountId: bigint, slug: string): Promise<StoredKey> {
    const row = await this.#terms.store.findProviderKey(accountId, slug);
    if (row === null) throw noKey(slug);
    return this.#view(row);
  }

  async list(accountId: bigint): Promise<StoredKey[]> {
    const rows = await this.#terms.store.listProviderKeys(accountId);
    return rows.map((row) => this.#view(row));
  }

  async remove(accountId: bigint, slug: string, audit?: AuditRow): Promise<void> {
    if (!(await this.#terms.store.deleteProviderKey(accountId, slug, audit))) throw noKey(slug);
  }

  /** Whether a key is stored. */
  async has(accountId: bigint, provider: ProviderRow): Promise<boolean> {
    return (await this.#terms.store.findProviderKey(accountId, provider.slug)) !== null;
  }

  /** The resource of a stored key; null if there is none. Throws if the key cannot be decrypted. */
  async open(accountId: bigint, provider: ProviderRow): Promise<Resource | null> {
    const row = await this.#terms.store.findProviderKey(accountId, provider.slug);
    if (row === null) return null;
    return this.#resource(provider, row, this.#opened(provider, row));
  }

  #opened(provider: ProviderRow, row: ProviderKeyRow): string {
    const opened = this.#terms.sealer.open(row.sealed, placeOf(row));
    if (opened === null) throw unreadable(provider);
    return Buffer.from(opened).toString();
  }

  #resource(provider: ProviderRow, row: ProviderKeyRow, key: string): Resource {
    const { egress } = this.#terms;
    try {
      const url = egress.recall(row.baseUrl);
      const observe = this.#uses.begin(row);
      return {
        provider,
        send: (path, headers, body, receiver) =>
          egress.send(
            url,
            {
              path: url.path + path,
              headers: { ...headers, [provider.keyHeader]: key },
              body,
              onBehalfOf: row.accountId,
            },
            observe(receiver),
          ),
        hideKey: (text) => hideSecret(text, key),
        explain: (failure) => explain(provider, failure),
      };
    } catch (error) {
      throw explain(provider, error as Error);
    }
  }

  #view(row: ProviderKeyRow): StoredKey {
    const { provider, baseUrl, lastFour, verifiedMs, createdMs, rejectedMs, usedMs } = row;
    const opens = this.#terms.sealer.open(row.sealed, placeOf(row)) !== null;
    const status = rejectedMs === null ? 'verified' : 'rejected';
    const shown = { provider, baseUrl, lastFour, verifiedMs, createdMs, rejectedMs, usedMs };
    return { ...shown, status: opens ? status : 'unreadable' };
  }
}

/** What a row's encryption is bound to: copied to another account, row, provider or URL, it cannot be decrypted. */
export function placeOf(row: Pick<ProviderKeyRow, 'id' | 'accountId' | 'provider' | 'baseUrl'>): Associated {
  return ['provider key', String(row.accountId), String(row.id), row.provider, row.baseUrl];
}

function accountClosed(): GatewayError {
  const message = 'This account is closed for good and stores no provider keys. Use a key of another account.';
  return new GatewayError('account_suspended', { message });
}

function providerNamed(slug: string): ProviderRow {
  const provider = PROVIDER_ROWS.find((row) => row.slug === slug);
  if (provider !== undefined) return provider;
  const known = PROVIDER_ROWS.map((row) => `/v1/keys/${row.slug}`).join(', ');
  throw new GatewayError('invalid_value', {
    param: 'provider',
    message: `Keys of this provider cannot be stored. Use one of: ${known}.`,
  });
}

/** Empty for a short key, of which four characters would show too much. */
function lastFour(key: Secret): string {
  const text = key.reveal();
  return text.length >= 12 ? text.slice(-4) : '';
}

function noKey(slug: string): GatewayError {
  const known = PROVIDER_ROWS.some((row) => row.slug === slug);
  const message = known
    ? `No key is stored for "${slug}". Store one with PUT /v1/keys/${slug}.`
    : 'No key is stored for this provider. GET /v1/keys lists the stored ones.';
  return new GatewayError('provider_key_not_found', { param: 'provider', message });
}

function unreadable(provider: ProviderRow): GatewayError {
  const remedy = `Store it again with PUT /v1/keys/${provider.slug}.`;
  return providerFailed(provider, `has a stored key that can no longer be decrypted. ${remedy}`);
}

/** A URL that is no longer allowed is a fault of the stored key; an unreachable resource is a host failure. */
function explain(provider: ProviderRow, failure: Error): GatewayError {
  if (failure instanceof ForbiddenUrl) return providerFailed(provider, describeFailure(failure));
  const what = failure instanceof EgressFailure ? describeFailure(failure) : 'did not finish its response.';
  return new GatewayError('host_failed', { message: `The provider "${provider.slug}" ${what} Nothing was charged.` });
}

function tooManyAtOnce(): GatewayError {
  return new GatewayError('rate_limit_exceeded', {
    message: `${LIMITS.keyVerificationsMax} keys of this account are being verified already. Try again in a second.`,
    retryAfterS: 1,
  });
}
