export const KEY_PREFIX = 'key_';

export const ACCOUNT_PREFIX = 'acct_';
