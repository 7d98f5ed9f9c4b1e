import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { clientAddress, clientNetwork, readNetwork, trustedProxies } from './client-address.ts';

const isTrusted = trustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']);

describe("the client's address", () => {
  test.each([
    ['203.0.113.5', '198.51.100.1', '203.0.113.5', 'a stranger may write what they like'],
    ['10.0.0.1', undefined, '10.0.0.1', 'the proxy names nobody'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1', 'one proxy'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1', 'the client wrote an entry of its own'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.1, 192.0.2.7', '198.51.100.1', 'two proxies'],
    ['10.0.0.1', '10.1.1.1, 10.2.2.2', '10.1.1.1', 'a client inside the trusted network'],
    ['10.0.0.1', '198.51.100.1:4711', '198.51.100.1', 'an entry with a port'],
    ['2001:db8::1', '[2a00::5]:80', '2a00::5', 'IPv6 in brackets'],
    ['::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1', 'IPv4 carried by IPv6'],
    ['10.0.0.1', '198.51.100.1, unknown', '10.0.0.1', 'an entry that is not an address'],
    ['10.0.0.1', '', '10.0.0.1', 'an empty header'],
    ['10.0.0.1', 'fe80::1%eth0', '10.0.0.1', 'an address with a zone'],
    [null, '198.51.100.1', null, 'a connection that is gone'],
  ])('of peer %s with %s is %s: %s', (peer, forwarded, expected, _why) => {
    expect(clientAddress(peer, forwarded, isTrusted)).toBe(expected);
  });

  test('is an address whatever the header says, and the peer unless that is a trusted proxy', () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6());
    const entry = fc.oneof(
      address,
      fc.string({ maxLength: 20 }),
      fc.constantFrom('10.0.0.9', '_hidden', '', '[', '::'),
    );
    const header = fc.oneof(fc.string({ maxLength: 300 }), fc.array(entry, { maxLength: 60 }).map(String));
    fc.assert(
      fc.property(address, header, (peer, forwarded) => {
        const found = clientAddress(peer, forwarded, isTrusted);
        expect(found === null ? 0 : isIP(found)).not.toBe(0);
        if (!isTrusted(peer))
          expect(clientAddress(peer, forwarded, isTrusted)).toBe(clientAddress(peer, undefined, isTrusted));
      }),
    );
  });

  test('cannot be chosen by a client: what it writes stands before what the proxy adds', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 100 }), (written) => {
        expect(clientAddress('10.0.0.1', `${written}, 198.51.100.1`, isTrusted)).toBe('198.51.100.1');
      }),
    );
  });
});

test.each([
  ['10.0.0.0/8', true],
  ['::1', true],
  ['10.0.0.0/33', false],
  ['::1/129', false],
  ['10.0.0/8', false],
  ['proxy.example', false],
  ['10.0.0.1/', false],
  ['', false],
])('%s is a network: %s', (text, isNetwork) => {
  expect(readNetwork(text) !== null).toBe(isNetwork);
});

test.each([
  ['203.0.113.5', '203.0.113.5'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::6', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
])('%s counts as %s', (address, network) => {
  expect(clientNetwork(address)).toBe(network);
});
