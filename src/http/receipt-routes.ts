import { missingPermission } from '../accounts/permissions.ts';
import { GatewayError } from '../canonical/errors.ts';
import { REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import type { Receipt } from '../canonical/receipt.ts';
import { receiptView } from '../canonical/receipt-view.ts';
import { headerLine } from '../http1/headers.ts';
import type { Clock } from '../kit/clock.ts';
import { parseId } from '../kit/ids.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LIMITS } from '../limits.ts';
import type { JwkSet } from '../signing/receipt-keys.ts';
import type { ReceiptSigner } from '../signing/receipt-signer.ts';
import type { CallerLists } from './caller-lists.ts';
import { invalid } from './field-errors.ts';
import { ok } from './plain-response.ts';
import { readQuery } from './query-parameters.ts';
import { listReceipts } from './receipt-list.ts';
import type { PlainRequest, PlainResponse, Route } from './routes.ts';

interface ReceiptRouteServices {
  readonly ledger: Pick<Ledger, 'findReceipt' | 'listAccountReceipts' | 'refundsOf'>;
  readonly signer: ReceiptSigner;
  readonly lists: CallerLists;
  readonly clock: Clock;
}

const KEY_SET_PATH = '/.well-known/tollgate-receipt-keys.json';

/** The callers' receipts, signed if they ask for it, and the keys that verify them. */
export function receiptRoutes(services: ReceiptRouteServices): Route[] {
  const keySet = new KeptKeySet(services);
  return [
    {
      method: 'GET',
      path: '/receipts',
      access: 'key',
      answer: async ({ caller, query }) =>
        ok(await services.lists.read(caller, () => listReceipts(services.ledger, caller, query))),
    },
    {
      method: 'GET',
      path: '/receipts/*/refunds',
      access: 'key',
      answer: async (request) => {
        readQuery(request.query, []);
        const data = await services.signer.signRefunds(await findVisible(services.ledger, request));
        return ok({ object: 'list', data });
      },
    },
    { method: 'GET', path: '/receipts/*', access: 'key', answer: (request) => receipt(services, request) },
    {
      method: 'GET',
      path: KEY_SET_PATH,
      access: 'public',
      answer: async () => ({ ...ok(await keySet.read()), lines: CACHEABLE }),
    },
  ];
}

const CACHEABLE = headerLine('cache-control', `public, max-age=${LIMITS.receiptKeySetMaxAgeS}`);

async function receipt(services: ReceiptRouteServices, request: PlainRequest): Promise<PlainResponse> {
  const { ledger, signer } = services;
  const query = readQuery(request.query, ['signed', 'proof']);
  const isSigned = isTrue(query, 'signed');
  const withProof = isTrue(query, 'proof');
  if (withProof && !isSigned) throw invalid('proof', 'needs `signed=true` beside it');
  const found = await findVisible(ledger, request);
  if (isSigned) return ok(await signer.sign(found, withProof));
  return ok(receiptView(found, (await ledger.refundsOf([found.id])).get(found.id)));
}

/** Receipts of other accounts, and of other keys for a key that may not read them, are not found, even with their id. */
async function findVisible(ledger: ReceiptRouteServices['ledger'], { caller, param }: PlainRequest): Promise<Receipt> {
  const id = parseId(REQUEST_PREFIX, param);
  const found = id === null ? null : await ledger.findReceipt(id, caller.accountId);
  const isVisible = found?.keyId === caller.keyId || missingPermission(caller, 'account_read') === null;
  if (found !== null && isVisible) return found;
  throw new GatewayError('receipt_not_found', {
    param: 'request_id',
    message: 'There is no receipt with this id. Use the x-gateway-request-id header of a billed response.',
  });
}

function isTrue(query: ReadonlyMap<string, string>, param: string): boolean {
  const value = query.get(param);
  if (value === undefined) return false;
  if (value === 'true') return true;
  throw invalid(param, 'must be `true` or be left out');
}

/** Anyone may ask for the keys, so that the ledger is not read for each request. */
class KeptKeySet {
  readonly #services: ReceiptRouteServices;
  #kept: { readonly untilMs: number; readonly set: Promise<JwkSet> } | null = null;

  constructor(services: ReceiptRouteServices) {
    this.#services = services;
  }

  read(): Promise<JwkSet> {
    const { signer, clock } = this.#services;
    const nowMs = clock.nowMs();
    if (this.#kept !== null && nowMs < this.#kept.untilMs) return this.#kept.set;
    const set = signer.keys.set();
    this.#kept = { untilMs: nowMs + LIMITS.receiptKeySetKeptMs, set };
    set.catch(() => {
      this.#kept = null;
    });
    return set;
  }
}
