import { isIPv6 } from 'node:net';

/** A name or an IPv4 address by the grammar of RFC 3986, or an IPv6 address in brackets; then perhaps a port. */
const HOST_FIELD = /^(?:(?:[\w.~!$&'()*+,;=-]|%[\dA-Fa-f]{2})+|\[([\dA-Fa-f:.]+)\])(?::\d{0,5})?$/;

/** True if the value of a Host header names a host; an empty one names none. */
export function isHostField(value: string): boolean {
  const match = HOST_FIELD.exec(value);
  return match !== null && (match[1] === undefined || isIPv6(match[1]));
}
