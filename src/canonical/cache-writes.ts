/** The most expensive kind of cache write that a call can be billed for: none, the default lifetime, or one hour. */
export type CacheWrites = 'none' | 'default' | 'one_hour';
