import type { Config } from '../config/config.ts';
import { usageFailure } from './failure.ts';

/** The address of the gateway, without the `/v1` that it may end with. */
export function readGatewayUrl(typed: string | boolean | undefined, { listen }: Pick<Config, 'listen'>): string {
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
