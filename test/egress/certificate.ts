import { generateKeyPairSync, sign } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { ipv6Bytes } from './name-server.ts';

/** A self-signed certificate and its key. A client that trusts the certificate trusts the server. */
export interface Certified {
  readonly key: string;
  readonly cert: string;
}

/** Writes just enough of DER for a server certificate, so that tests need no tool and no file of secrets. */
export function certify(hosts: readonly string[]): Certified {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(set(sequence(oid('550403'), utf8('tollgate test'))));
  const algorithm = sequence(oid('2a8648ce3d040302'));
  const body = sequence(
    tagged(0, integer(2)),
    integer(1),
    algorithm,
    name,
    sequence(time('20200101000000Z'), time('20991231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(extension('551d13', sequence(boolean(true))), extension('551d11', names(hosts)))),
  );
  const signature = sign('sha256', body, privateKey);
  const der = sequence(body, algorithm, element(0x03, Buffer.concat([Buffer.of(0), signature])));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${der
      .toString('base64')
      .match(/.{1,64}/g)!
      .join('\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function names(hosts: readonly string[]): Buffer {
  return sequence(...hosts.map(subject));
}

function subject(host: string): Buffer {
  if (isIPv4(host)) return element(0x87, Buffer.from(host.split('.').map(Number)));
  return isIPv6(host) ? element(0x87, ipv6Bytes(host)) : element(0x82, Buffer.from(host, 'latin1'));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), element(0x04, value));
}

function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, Math.floor(length / 256), length % 256];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]): Buffer => element(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]): Buffer => element(0x31, Buffer.concat(parts));
const tagged = (number: number, content: Buffer): Buffer => element(0xa0 + number, content);
const integer = (value: number): Buffer => element(0x02, Buffer.of(value));
const boolean = (value: boolean): Buffer => element(0x01, Buffer.of(value ? 0xff : 0));
const oid = (hex: string): Buffer => element(0x06, Buffer.from(hex, 'hex'));
const utf8 = (text: string): Buffer => element(0x0c, Buffer.from(text));
const time = (text: string): Buffer => element(0x18, Buffer.from(text));
