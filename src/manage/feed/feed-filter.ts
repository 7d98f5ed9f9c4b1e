import { z } from 'zod';
import { PERSON_PREFIX } from '../../canonical/id-prefixes.ts';
import { parseId } from '../../kit/ids.ts';
import type { FeedFilter } from '../../ledger/receipt-feed.ts';
import { LIMITS } from '../../limits.ts';
import { idOrName } from '../../operator/input.ts';
import { accountNamed, keyIn } from '../../operator/lookup.ts';
import type { OperatorServices } from '../../operator/operator.ts';
import { parseInput } from '../../operator/parse-input.ts';

/** What a feed of receipts may be asked for. */
export const receiptFeedInput = z.strictObject({
  account: idOrName.nullable().default(null),
  key: idOrName.nullable().default(null),
  after: z
    .string()
    .min(1)
    .max(LIMITS.nameCharsMax)
    .nullable()
    .default(null)
    .describe('The id of the last event that was read. `Last-Event-ID` does the same.'),
});

/** The receipts that a feed shows. A member's input names the member by id; `person` in any other form is refused as unknown. */
export async function feedFilterOf(
  { person, ...input }: Readonly<Record<string, unknown>>,
  services: OperatorServices,
): Promise<FeedFilter> {
  const personId = typeof person === 'string' ? parseId(PERSON_PREFIX, person) : null;
  const given = parseInput(receiptFeedInput, personId === null && person !== undefined ? { ...input, person } : input);
  const account = given.account === null ? null : await accountNamed(services, given.account);
  const key = await keyIn(services, given.key, account);
  return { accountId: account?.id ?? null, keyId: key?.id ?? null, personId };
}
