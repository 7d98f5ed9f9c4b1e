import type { HangupFacts } from '../canonical/balance-view.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { hangupFacts, isUsedUp } from '../gateway/hangup-facts.ts';

/**
 * Whether the account has used up its loss allowance. Its jobs are then reserved by bytes, because a count that is too low
 * is the operator's loss.
 */
export async function isAllowanceUsedUp(gateway: Gateway, accountId: bigint): Promise<boolean> {
  return isUsedUp(await factsOf(gateway, accountId));
}

/**
 * When the losses of its account allow a job to start whose reservation is based on a count; null if they do now. Without this,
 * the jobs that wait could all fall short. An account that has lost nothing may always start one.
 */
export async function mayStartMs(gateway: Gateway, accountId: bigint): Promise<number | null> {
  const facts = await factsOf(gateway, accountId);
  if (facts === null || facts.lostNanousd === 0n || !isUsedUp(facts)) return null;
  return facts.resetsMs;
}

async function factsOf(gateway: Gateway, accountId: bigint): Promise<HangupFacts | null> {
  const account = (await gateway.ledger.balance(accountId, null))?.account;
  return account === undefined ? null : hangupFacts(gateway, account);
}
