const STORED = 'tollgate.invitation';
/** Where the links of invitations and of new passwords lead. */
const LEADS_TO = '/console/join';

/**
 * The secret of a link is in its fragment, which no server sees. It leaves the address bar at once, where others could read or
 * copy it, and is kept for this tab until it is used: whoever has to sign in first comes back to it. Returns whether there was one.
 */
export function takeInvitationFromAddress(): boolean {
  if (location.pathname !== LEADS_TO || location.hash === '') return false;
  sessionStorage.setItem(STORED, decoded(location.hash.slice(1)));
  history.replaceState(history.state, '', location.pathname + location.search);
  return true;
}

/** Empty if a part of the link is missing. Programs for mail may have escaped its characters. */
function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return '';
  }
}

/** Empty if no link was opened in this tab, or the link was used. */
export function invitationSecret(): string {
  return sessionStorage.getItem(STORED) ?? '';
}

export function forgetInvitation(): void {
  sessionStorage.removeItem(STORED);
}
