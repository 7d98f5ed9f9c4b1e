import { z } from 'zod';
import { ACCOUNT_PREFIX, KEY_PREFIX, REQUEST_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { toSeconds } from '../kit/unix-seconds.ts';
import { LIMITS } from '../limits.ts';
import type { Refusal } from '../store/refusals.ts';
import { idOrName, modelFilter, page, seconds, toMs } from './input.ts';
import { accountNamed, afterId, keyIn, optionalId, personIn } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import { type ListView, listView } from './view.ts';

export const refusalPage = z.strictObject({
  /** The id of a request, in the header x-gateway-request-id. */
  request: idOrName.nullable().default(null),
  account: idOrName.nullable().default(null),
  key: idOrName.nullable().default(null),
  /** Only calls with keys of this person, by id or email address. */
  person: idOrName.nullable().default(null),
  /** As the caller named it. */
  model: modelFilter,
  code: z
    .string()
    .regex(/^[a-z0-9_]{1,64}$/, 'must be the code of an error, like insufficient_quota')
    .nullable()
    .default(null),
  since: seconds.nullable().default(null),
  until: seconds.nullable().default(null),
  ...page,
});

export interface RefusalView {
  readonly object: 'refusal';
  /** The request id. */
  readonly id: string;
  readonly account: string;
  readonly key: string | null;
  readonly created: number;
  readonly route: string;
  /** As the caller named it; null if the request was refused before it was read. */
  readonly model: string | null;
  readonly http_status: number;
  readonly code: string;
  readonly message: string;
  /** What the call could have cost, and what was available; null if it was not refused for money. */
  readonly worst_nanousd: bigint | null;
  readonly available_nanousd: bigint | null;
}

/** The most recent refused calls, the newest first. */
export async function listRefusals(
  services: OperatorServices,
  input: z.output<typeof refusalPage>,
): Promise<ListView<RefusalView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const key = await keyIn(services, input.key, account);
  const person = input.person === null ? null : await personIn(services, input.person, account);
  const filter = {
    id: optionalId(REQUEST_PREFIX, input.request, 'request'),
    accountId: account?.id ?? null,
    keyId: key?.id ?? null,
    personId: person?.id ?? null,
    model: input.model,
    code: input.code,
    sinceMs: toMs(input.since),
    untilMs: toMs(input.until),
  };
  const limit = Math.min(input.limit, LIMITS.storePageRowsMax);
  const rows = await services.store.usage.listRefusals(filter, { limit, after: afterId(REQUEST_PREFIX, input.after) });
  return listView(rows.map(refusalView), limit);
}

function refusalView(refusal: Refusal): RefusalView {
  return {
    object: 'refusal',
    id: formatId(REQUEST_PREFIX, refusal.id),
    account: formatId(ACCOUNT_PREFIX, refusal.accountId),
    key: refusal.keyId === null ? null : formatId(KEY_PREFIX, refusal.keyId),
    created: toSeconds(refusal.atMs),
    route: refusal.route,
    model: refusal.model,
    http_status: refusal.status,
    code: refusal.code,
    message: refusal.message,
    worst_nanousd: refusal.worstNanousd,
    available_nanousd: refusal.availableNanousd,
  };
}
