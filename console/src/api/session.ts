const STORED = 'tollgate.token';

/**
 * In local mode the link that `serve` prints has a token in its fragment, which no server sees. It is kept for this tab only
 * and leaves the address bar at once.
 */
export function takeTokenFromAddress(): void {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null || token === '') return;
  keepToken(token);
  history.replaceState(history.state, '', location.pathname + location.search);
}

export function keepToken(token: string): void {
  sessionStorage.setItem(STORED, token);
}

export function dropToken(): void {
  sessionStorage.removeItem(STORED);
}

/** Null in hosted mode, where the browser sends the cookie of the session. */
export function localToken(): string | null {
  return sessionStorage.getItem(STORED);
}

export function authorizationHeader(): Readonly<Record<string, string>> {
  const token = localToken();
  return token === null ? {} : { authorization: `Bearer ${token}` };
}
