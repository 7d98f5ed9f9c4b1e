import { z } from 'zod';
import { GatewayError } from '../canonical/errors.ts';
import type { Custody, KeyAudit, StoredKey } from '../custody/custody.ts';
import { Secret } from '../kit/secret.ts';
import { secondsOrNull, toSeconds } from '../kit/unix-seconds.ts';
import { LIMITS } from '../limits.ts';
import { auditRow } from './actor.ts';
import { OperatorError, type OperatorErrorCode } from './error.ts';
import { idOrName } from './input.ts';
import { liveServices } from './live-services.ts';
import { accountNamed } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import type { ListView } from './view.ts';

const provider = z.string().min(1).max(LIMITS.nameCharsMax);
export const providerKeyPage = z.strictObject({ account: idOrName });
export const providerKeyChoice = z.strictObject({ account: idOrName, provider });
export const providerKeyInput = z.strictObject({
  account: idOrName,
  provider,
  api_key: z
    .string()
    .max(LIMITS.providerKeyCharsMax)
    .regex(/^[\x21-\x7e]+$/, 'must be the key alone: no spaces, no line breaks, nothing beyond ASCII'),
  base_url: z.string().min(1).max(LIMITS.urlCharsMax),
});

/** Times are in seconds since 1970. The key itself is never returned. */
export interface ProviderKeyView {
  readonly object: 'provider_key';
  readonly provider: string;
  readonly last_four: string;
  readonly base_url: string;
  readonly status: StoredKey['status'];
  readonly verified_at: number;
  readonly created_at: number;
  readonly rejected_at: number | null;
  readonly last_used_at: number | null;
}

export function providerKeyView({ provider, lastFour, baseUrl, status, ...times }: StoredKey): ProviderKeyView {
  return {
    object: 'provider_key',
    provider,
    last_four: lastFour,
    base_url: baseUrl,
    status,
    verified_at: toSeconds(times.verifiedMs),
    created_at: toSeconds(times.createdMs),
    rejected_at: secondsOrNull(times.rejectedMs),
    last_used_at: secondsOrNull(times.usedMs),
  };
}

export function listProviderKeys(
  services: OperatorServices,
  input: z.output<typeof providerKeyPage>,
): Promise<ListView<ProviderKeyView>> {
  return withCustody(services, input.account, async (custody, accountId) => {
    const keys = await custody.list(accountId);
    return { object: 'list', data: keys.map(providerKeyView), next: null };
  });
}

/** The provider is asked first: a key that it refuses is not stored. */
export function putProviderKey(
  services: OperatorServices,
  input: z.output<typeof providerKeyInput>,
): Promise<ProviderKeyView> {
  return withCustody(services, input.account, async (custody, accountId) => {
    const audit = auditOf(services, 'provider_key.put', accountId, input.provider);
    const key = new Secret(input.api_key);
    return providerKeyView(await custody.put(accountId, input.provider, key, input.base_url, audit));
  });
}

export function verifyProviderKey(
  services: OperatorServices,
  input: z.output<typeof providerKeyChoice>,
): Promise<ProviderKeyView> {
  return withCustody(services, input.account, async (custody, accountId) => {
    const audit = auditOf(services, 'provider_key.verify', accountId, input.provider);
    return providerKeyView(await custody.verify(accountId, input.provider, audit));
  });
}

export function removeProviderKey(
  services: OperatorServices,
  input: z.output<typeof providerKeyChoice>,
): Promise<{ object: 'provider_key'; provider: string; status: 'removed' }> {
  return withCustody(services, input.account, async (custody, accountId) => {
    const subject = input.provider;
    await custody.remove(accountId, subject, auditRow(services, { action: 'provider_key.remove', subject, accountId }));
    return { object: 'provider_key', provider: subject, status: 'removed' };
  });
}

function auditOf(services: OperatorServices, action: string, accountId: bigint, subject: string): KeyAudit {
  return ({ baseUrl, lastFour }) =>
    auditRow(services, { action, subject, accountId, after: { base_url: baseUrl, last_four: lastFour } });
}

async function withCustody<Result>(
  services: OperatorServices,
  account: string,
  run: (custody: Custody, accountId: bigint) => Promise<Result>,
): Promise<Result> {
  const { custody } = liveServices(services);
  const { id } = await accountNamed(services, account);
  try {
    return await run(custody, id);
  } catch (error) {
    throw error instanceof GatewayError ? new OperatorError(codeOf(error), error.message) : error;
  }
}

function codeOf({ status }: GatewayError): OperatorErrorCode {
  if (status === 404) return 'not_found';
  if (status === 429) return 'rate_limit_exceeded';
  return status === 400 ? 'invalid_input' : 'refused';
}
