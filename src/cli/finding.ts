/** What a check has found. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'failure';
  readonly detail: string;
  /** What to do about it; null if nothing needs to be done. */
  readonly remedy: string | null;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, remedy: null };
}

export function warning(check: string, detail: string, remedy: string): Finding {
  return { check, status: 'warning', detail, remedy };
}

export function failure(check: string, detail: string, remedy: string): Finding {
  return { check, status: 'failure', detail, remedy };
}
