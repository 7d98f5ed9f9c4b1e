const STORED = 'tollgate.return';
/** Where single sign-on leads back to, with `?sso=` and a code if it failed. */
const LEADS_TO = '/console';

/** Whoever opens a link to a page and signs in elsewhere first wants to come back to that page. */
export function rememberAddress(): void {
  const { pathname, search } = location;
  sessionStorage.setItem(STORED, pathname + search);
}

/** For whoever came back from the provider with the browser's Back, which loads nothing, and signs in with a password. */
export function forgetAddress(): void {
  sessionStorage.removeItem(STORED);
}

/** After single sign-on: the address that was remembered, and why it failed if it did. */
export function returnToAddress(): void {
  const stored = sessionStorage.getItem(STORED);
  sessionStorage.removeItem(STORED);
  if (stored === null || location.pathname !== LEADS_TO) return;
  const address = new URL(stored, location.origin);
  address.searchParams.delete('sso');
  const failure = new URLSearchParams(location.search).get('sso');
  if (failure !== null) address.searchParams.set('sso', failure);
  history.replaceState(history.state, '', address.pathname + address.search);
}
