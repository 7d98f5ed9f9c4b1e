export const KEY_PREFIX = 'key_';

export const ACCOUNT_PREFIX = 'acct_';

export const PERSON_PREFIX = 'person_';

export const INVITATION_PREFIX = 'inv_';

export const SESSION_PREFIX = 'session_';

export const MANAGEMENT_KEY_PREFIX = 'mkey_';

export const AUDIT_PREFIX = 'audit_';

export const WEBHOOK_PREFIX = 'wh_';

/** Of something that webhooks are told. */
export const EVENT_PREFIX = 'evt_';

export const ALERT_PREFIX = 'alert_';

export const JOB_PREFIX = 'job_';

/** Of a group of jobs. */
export const GROUP_PREFIX = 'grp_';

/** Of a ledger, in signed documents. */
export const BOOKS_PREFIX = 'books_';

/** Of a refund, in signed documents. */
export const REFUND_PREFIX = 'refund_';
