import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { GatewayError } from '../canonical/errors.ts';

export interface OriginTerms {
  /** Local mode trusts the loopback interface, so web pages in the user's browser must be kept out. */
  readonly local: boolean;
  /** Accepts a Host header that is an IP address: a rebinding DNS name cannot send one. */
  readonly allowsAddresses?: boolean;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Refuses requests from a DNS rebinding attack or from a foreign page in the user's browser. */
export function checkOrigin(method: string, headers: IncomingHttpHeaders, terms: OriginTerms): GatewayError | null {
  const origin = headers.origin;
  if (terms.local) {
    const host = hostName(headers.host ?? '');
    const isAddress = terms.allowsAddresses === true && isIP(host.replace(/^\[|\]$/g, '')) !== 0;
    if (!isAddress && !LOOPBACK_NAMES.has(host) && !terms.allowedHosts.includes(host)) return forbiddenHost(host);
    if (origin !== undefined && !isOwnOrigin(origin, terms) && !terms.allowedOrigins.includes(origin)) {
      return forbiddenOrigin();
    }
  }
  return isPreflight(method, headers) && !terms.allowedOrigins.includes(origin ?? '') ? forbiddenOrigin() : null;
}

/** A browser asks whether a page may call. A page whose origin is not listed would only see an error without a reason. */
function isPreflight(method: string, headers: IncomingHttpHeaders): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined;
}

function isOwnOrigin(origin: string, terms: OriginTerms): boolean {
  if (!URL.canParse(origin)) return false;
  const host = hostName(new URL(origin).host);
  return LOOPBACK_NAMES.has(host) || terms.allowedHosts.includes(host);
}

/** The host without its port. An IPv6 address keeps its brackets. */
function hostName(host: string): string {
  const bracket = host.indexOf(']');
  const colon = host.lastIndexOf(':');
  return (colon > bracket ? host.slice(0, colon) : host).toLowerCase();
}

function forbiddenHost(host: string): GatewayError {
  return new GatewayError('forbidden_host', {
    param: 'host',
    message: `The Host header ${JSON.stringify(host.slice(0, 100))} is not a name of this machine. Call 127.0.0.1, or start with --allowed-hosts.`,
  });
}

function forbiddenOrigin(): GatewayError {
  return new GatewayError('forbidden_origin', {
    param: 'origin',
    message:
      'This page may not call the gateway. Allow its origin with --origins or `origins` in the config file, or its host with --allowed-hosts.',
  });
}
