import type { Config } from '../config/config.ts';
import { usageFailure } from './failure.ts';
import type { Session } from './session.ts';

/** The URL as typed; otherwise that of the process that has the data folder open; otherwise where one would listen with this config. */
export async function findGatewayUrl(
  { composition }: Pick<Session, 'composition'>,
  typed: string | boolean | undefined,
  config: Pick<Config, 'listen' | 'dataFolder'>,
): Promise<string> {
  const holder = typeof typed === 'string' ? null : await composition.findHolder(config.dataFolder);
  return holder?.url?.replace(/\/\/(?:0\.0\.0\.0|\[::\])(?=:)/, '//127.0.0.1') ?? readGatewayUrl(typed, config);
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

export function isLoopback(url: string): boolean {
  return /^(?:localhost|127\..*|\[::1\])$/.test(new URL(url).hostname);
}
