import type { Config } from '../config/config.ts';
import { usageFailure } from './failure.ts';
import type { Session } from './session.ts';

interface FoundGateway {
  /** Without `/v1`. */
  readonly url: string;
  readonly needsKey: boolean;
  /** It was named, or has the data folder open, which a command may have too. Otherwise whatever listens there may be another gateway. */
  readonly isCertain: boolean;
}

/** The gateway as typed; otherwise the process that has the data folder open; otherwise the one that would listen with this config. */
export async function findGateway(
  { composition }: Pick<Session, 'composition'>,
  typed: string | boolean | undefined,
  config: Pick<Config, 'listen' | 'dataFolder' | 'hosted'>,
): Promise<FoundGateway> {
  const holder = typeof typed === 'string' ? null : await composition.findHolder(config.dataFolder);
  const own = holder?.url?.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:)/, '//127.0.0.1');
  const url = own ?? readGatewayUrl(typed, config);
  const needsKey = (holder?.needsKey ?? config.hosted) || !isLoopback(url);
  return { url, needsKey, isCertain: own !== undefined || typeof typed === 'string' };
}

/** The address of the gateway, without the `/v1` that it may end with. */
function readGatewayUrl(typed: string | boolean | undefined, { listen }: Pick<Config, 'listen'>): string {
  if (typeof typed !== 'string')
    return `http://${/[:*]|^0\.0\.0\.0$/.test(listen.host) ? '127.0.0.1' : listen.host}:${listen.port}`;
  if (!/^https?:$/.test(URL.parse(typed)?.protocol ?? '')) {
    throw usageFailure(`--url ${typed} is not the address of a gateway. Write it like https://gateway.example.com.`);
  }
  return typed.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function isLoopback(url: string): boolean {
  return /^(?:localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);
}
