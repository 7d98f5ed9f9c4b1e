/** What an input may choose from, apart from the verbs: commands name it in their help, which then needs no verb. */
export { looksLikeKey } from '../accounts/keys.ts';
export { permissionOption } from '../accounts/permissions.ts';
export { ACCOUNT_ROLES, type AccountRole, INVITATION_STATUSES } from '../store/people.ts';
export {
  CAP_WINDOWS,
  type CapWindow,
  KEY_PERMISSIONS,
  type KeyPermission,
  ON_UNSUPPORTED,
  type OnUnsupported,
  StoreMisnamed,
} from '../store/store.ts';

/** The roles of a management key in an account. Not `member`, who has only what is their own: nothing belongs to a management key. */
export const MANAGEMENT_KEY_ROLES = ['owner', 'viewer'] as const;

/** Which alerts a list has: all, those whose condition holds, or those that nobody has acknowledged. */
export const ALERT_STATUSES = ['all', 'open', 'unacknowledged'] as const;
