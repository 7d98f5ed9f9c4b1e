export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failure';
  readonly detail: string;
  /** What to do about it; null where nothing need be done. */
  readonly remedy: string | null;
}
