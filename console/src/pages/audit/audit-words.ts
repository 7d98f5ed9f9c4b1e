import type { AuditEntry } from '../../api/generated/routes.ts';

const LABELS: Readonly<Record<string, string>> = {
  'account.create': 'Created an account',
  'account.change': 'Changed an account',
  'account.rename': 'Renamed an account',
  'account.suspend': 'Suspended an account',
  'account.resume': 'Resumed an account',
  'account.close': 'Closed an account',
  'account.credit': 'Credited an account',
  'alert.acknowledge': 'Acknowledged an alert',
  'alerts.change': 'Changed alert settings',
  'config.reload': 'Reloaded the config',
  'invitation.accept': 'Accepted an invitation',
  'invitation.create': 'Invited somebody',
  'invitation.revoke': 'Revoked an invitation',
  'job.cancel': 'Cancelled a job',
  'jobgroup.cancel': 'Cancelled a group of jobs',
  'jobs.fail_restored': 'Failed restored jobs',
  'jobs.resume_restored': 'Resumed restored jobs',
  'key.mint': 'Minted a key',
  'key.change': 'Changed a key',
  'key.rotate': 'Rotated a key',
  'key.disable': 'Disabled a key',
  'key.enable': 'Enabled a key',
  'key.revoke': 'Revoked a key',
  'management_key.mint': 'Minted a management key',
  'management_key.revoke': 'Revoked a management key',
  'member.put': 'Gave a role or changed it',
  'member.remove': 'Took a role away',
  'model.reset_factor': 'Reset a token factor',
  'person.create': 'Created a person',
  'person.change': 'Changed a person',
  'person.disable': 'Disabled a person',
  'person.enable': 'Enabled a person',
  'person.link': 'Linked single sign-on',
  'person.password': 'Set a password',
  'person.reset': 'Made a reset link',
  'person.sign_out': 'Signed somebody out',
  'provider_key.put': 'Stored a provider key',
  'provider_key.remove': 'Removed a provider key',
  'provider_key.verify': 'Verified a provider key',
  'receipt.refund': 'Refunded a call',
  'receipt_key.rotate': 'Made a new key for receipts',
  'seal.rotate': 'Rotated the master keys',
  'session.begin': 'Signed in',
  'session.end': 'Signed out',
  'store.archive': 'Archived receipts',
  'webhook.put': 'Set a webhook',
  'webhook.remove': 'Removed a webhook',
  'webhook.rotate': 'Rotated the secret of a webhook',
  'webhook.test': 'Sent a test event to a webhook',
};

export const ACTIONS = [
  { value: 'any', label: 'any' },
  ...Object.entries(LABELS).map(([value, label]) => ({ value, label })),
];

export function actionLabel(action: string): string {
  return LABELS[action] ?? action;
}

/** Every new object has these members, so they say nothing. */
const NOT_SAID: ReadonlySet<string> = new Set(['object', 'id', 'account', 'status', 'created']);

/** Readable names of the fields that changed. */
export function changedMembers({ before, after }: Pick<AuditEntry, 'before' | 'after'>): readonly string[] {
  const names = [before, after].flatMap((value) =>
    typeof value === 'object' && value !== null ? Object.keys(value) : [],
  );
  return [...new Set(names)]
    .filter((name) => !NOT_SAID.has(name))
    .map((name) => name.replace(/_nanousd$/, '').replaceAll('_', ' '));
}
