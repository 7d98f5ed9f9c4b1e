export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failure';
  readonly detail: string;
  /** What to do about it; null if nothing needs to be done. */
  readonly remedy: string | null;
}
