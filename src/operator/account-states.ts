import type { z } from 'zod';
import { LOCAL_ACCOUNT_NAME } from '../accounts/accounts.ts';
import { ACCOUNT_PREFIX } from '../canonical/id-prefixes.ts';
import { formatId } from '../kit/ids.ts';
import { pause } from '../kit/pause.ts';
import { shellWord } from '../kit/shell-words.ts';
import { LIMITS } from '../limits.ts';
import { formatUsd } from '../money/nanousd.ts';
import type { AuditRow } from '../store/people.ts';
import type { Account } from '../store/store.ts';
import { auditRow } from './actor.ts';
import { OperatorError, versionConflict } from './error.ts';
import type * as inputs from './input.ts';
import { accountNamed, unknownAccount } from './lookup.ts';
import type { OperatorServices } from './services.ts';
import { type AccountView, accountView } from './view.ts';
import { cancelWaitingJobs } from './waiting-jobs.ts';

export async function renameAccount(
  services: OperatorServices,
  input: z.output<typeof inputs.accountRenaming>,
): Promise<AccountView> {
  const account = await accountNamed(services, input.account);
  if (account.name === LOCAL_ACCOUNT_NAME || input.name === LOCAL_ACCOUNT_NAME)
    throw new OperatorError(
      'refused',
      `The name "${LOCAL_ACCOUNT_NAME}" belongs to the account of local mode. Choose another account or name.`,
    );
  const audit = stateAudit(services, account, 'account.rename', { name: account.name }, { name: input.name });
  const version = input.version === undefined ? null : BigInt(input.version);
  const outcome = await services.store.directory.renameAccount(account.id, input.name, version, audit);
  if (outcome === 'not_found') throw unknownAccount(input.account);
  if (outcome === 'name_taken')
    throw new OperatorError('refused', `An account named "${input.name}" already exists.`, 'tollgate accounts list');
  if (outcome === 'version_conflict') throw versionConflict('account');
  return viewOf(services, account);
}

/** No new call starts; running calls finish and are charged. Suspending twice changes nothing. */
export async function suspendAccount(
  services: OperatorServices,
  input: z.output<typeof inputs.accountChoice>,
): Promise<AccountView> {
  return setStatus(services, await accountNamed(services, input.account), 'suspended');
}

export async function resumeAccount(
  services: OperatorServices,
  input: z.output<typeof inputs.accountChoice>,
): Promise<AccountView> {
  return setStatus(services, await accountNamed(services, input.account), 'active');
}

async function setStatus(
  services: OperatorServices,
  account: Account,
  to: 'active' | 'suspended',
): Promise<AccountView> {
  const action = to === 'suspended' ? 'account.suspend' : 'account.resume';
  const audit = stateAudit(services, account, action, { status: account.status }, { status: to });
  const outcome = await services.store.directory.setAccountStatus(account.id, to, audit);
  if (outcome === 'closed') throw accountIsClosed(account);
  return viewOf(services, account);
}

export type ClosedAccountView = AccountView & { readonly paid_out_nanousd: bigint };

/**
 * Suspends the account, cancels its waiting jobs, waits for its running calls, then pays the balance out and closes the account in one commit.
 * Whatever interrupts it, running it again continues where it stopped.
 */
export async function closeAccount(
  services: OperatorServices,
  input: z.output<typeof inputs.accountClosing>,
): Promise<ClosedAccountView> {
  const account = await accountNamed(services, input.account);
  if (account.name === LOCAL_ACCOUNT_NAME)
    throw new OperatorError('refused', 'The account of local mode cannot be closed. Suspend it instead.');
  const { clock, ids } = services;
  const deadlineMs = clock.monotonicMs() + input.wait_seconds * 1000;
  const creditId = ids.next();
  const payout = { id: creditId, reference: formatId('closing_', creditId), note: input.note };
  const audit = stateAudit(services, account, 'account.close', { status: account.status }, null);
  if (account.status === 'active') await setStatus(services, account, 'suspended');
  for (;;) {
    const entry = { ...payout, createdMs: clock.nowMs() };
    const outcome = await services.store.directory.closeAccount(account.id, entry, audit);
    if (outcome.kind === 'closed' || outcome.kind === 'already_closed') {
      const paidOut = outcome.kind === 'closed' ? outcome.paidOutNanousd : 0n;
      return { ...(await viewOf(services, account)), paid_out_nanousd: paidOut };
    }
    if (outcome.kind === 'not_found') throw unknownAccount(input.account);
    if (outcome.kind === 'not_suspended') throw resumedMeanwhile(account);
    if (outcome.kind === 'jobs_waiting') {
      if ((await cancelJobs(services, account.id)) === 0) throw jobsLeft(account);
      continue;
    }
    if (clock.monotonicMs() >= deadlineMs) throw stillOpen(account, outcome.calls, outcome.heldNanousd);
    await pause(clock, LIMITS.accountClosePollMs);
  }
}

/** The account is suspended, so no job is added. Returns how many were cancelled. */
function cancelJobs(services: OperatorServices, accountId: bigint): Promise<number> {
  const error = { errorCode: 'account_closed', errorMessage: 'The account was closed before the job ran.' };
  return cancelWaitingJobs(services, { accountId }, error);
}

function jobsLeft({ name }: Account): OperatorError {
  return new OperatorError(
    'refused',
    `Jobs of "${name}" are still waiting and cannot be cancelled yet. The account is suspended. Close it again in a moment.`,
    `tollgate accounts close ${shellWord(name)}`,
  );
}

function stillOpen({ name }: Account, calls: number, heldNanousd: bigint): OperatorError {
  const running = calls === 1 ? '1 call is' : `${calls} calls are`;
  return new OperatorError(
    'refused',
    `${running} still running in "${name}", with $${formatUsd(heldNanousd)} held. The account is suspended and takes no new calls. Close it again when they have ended.`,
    `tollgate accounts close ${shellWord(name)}`,
  );
}

function resumedMeanwhile({ name }: Account): OperatorError {
  const message = `Somebody resumed "${name}" while it was being closed. Nothing was paid out.`;
  return new OperatorError('refused', message, `tollgate accounts close ${shellWord(name)}`);
}

export function accountIsClosed({ name }: Account): OperatorError {
  return new OperatorError('refused', `The account "${name}" is closed for good.`, 'tollgate accounts list');
}

function stateAudit(
  services: OperatorServices,
  account: Account,
  action: string,
  before: object,
  after: object | null,
): AuditRow {
  const subject = formatId(ACCOUNT_PREFIX, account.id);
  return auditRow(services, { action, subject, accountId: account.id, before, after });
}

async function viewOf({ store }: OperatorServices, { id, name }: Account): Promise<AccountView> {
  const account = await store.findAccount(id);
  if (account === null) throw unknownAccount(name);
  return accountView(account);
}
