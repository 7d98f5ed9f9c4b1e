/** A request, and so its hold and its receipt. */
export const REQUEST_PREFIX = 'req_';

export const KEY_PREFIX = 'key_';

export const ACCOUNT_PREFIX = 'acct_';

export const PERSON_PREFIX = 'person_';

export const INVITATION_PREFIX = 'inv_';

export const SESSION_PREFIX = 'session_';

export const MANAGEMENT_KEY_PREFIX = 'mkey_';

export const AUDIT_PREFIX = 'audit_';

export const WEBHOOK_PREFIX = 'wh_';

/** An event that is sent to webhooks. */
export const EVENT_PREFIX = 'evt_';

export const ALERT_PREFIX = 'alert_';

export const JOB_PREFIX = 'job_';

/** A group of jobs. */
export const GROUP_PREFIX = 'grp_';

/** A ledger, in signed documents. */
export const BOOKS_PREFIX = 'books_';

export const CREDIT_PREFIX = 'credit_';

export const REFUND_PREFIX = 'refund_';
