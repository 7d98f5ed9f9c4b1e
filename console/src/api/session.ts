const STORED = 'tollgate.token';

const CHANNEL = 'tollgate.token';

/** The gateway writes its mode into the page. In hosted mode people sign in, and no link may decide who they are. */
function isHosted(): boolean {
  return document.querySelector<HTMLMetaElement>('meta[name="tollgate-mode"]')?.content === 'hosted';
}

/**
 * In local mode the link that `serve` prints has a token in its fragment, which no server sees. It is kept for this tab only
 * and leaves the address bar at once. Returns whether there was one.
 */
export function takeTokenFromAddress(): boolean {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null || token === '' || isHosted()) return false;
  keepToken(token);
  history.replaceState(history.state, '', location.pathname + location.search);
  return true;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(STORED, token);
}

/**
 * Null in hosted mode, where the browser sends the cookie of the session: a tab may still have a token from when the gateway
 * was in local mode, or from a link that an earlier version took.
 */
export function localToken(): string | null {
  const token = sessionStorage.getItem(STORED);
  return token === null || isHosted() ? null : token;
}

export function authorizationHeader(): Readonly<Record<string, string>> {
  const token = localToken();
  return token === null ? {} : { authorization: `Bearer ${token}` };
}

type TabMessage = { readonly ask: true } | { readonly token: string };

/** Gives the token to other tabs of this origin that ask for it, so that a link can be opened in a new tab. */
export function answerOtherTabs(): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    const token = localToken();
    if ('ask' in data && token !== null) channel.postMessage({ token } satisfies TabMessage);
  };
}

/** Asks the other tabs of this origin for their token. Returns a function that stops asking. */
export function askOtherTabs(onToken: (token: string) => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if ('token' in data && data.token !== localToken()) onToken(data.token);
  };
  channel.postMessage({ ask: true } satisfies TabMessage);
  return () => channel.close();
}
