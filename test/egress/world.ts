import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { type AddressInfo, BlockList, connect, isIP, type Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { GuardedEgress, type GuardTerms } from '../../src/egress/guarded-egress.ts';
import { type DialTarget, pinnedConnector } from '../../src/egress/pinned-connector.ts';
import { createResolver, type Resolve } from '../../src/egress/resolve.ts';
import type { ResponseReceiver } from '../../src/http1/client.ts';
import { UndiciClient } from '../../src/http1/undici-client.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { type Certified, certify } from './certificate.ts';
import { HOSTILE_NAMES } from './hostile-urls.ts';
import { NameServer, type Zone } from './name-server.ts';

/** Public addresses; no real connection is made to any of them. */
export const GOOD_URLS: readonly string[] = [
  'https://api.good.example/openai/v1',
  'https://API.Good.Example/openai/v1',
  'https://api.good.example:443/openai/v1',
  'https://api.good.example:8443/openai/v1?api-version=1',
  'https://api.good.example',
  'https://two.good.example/hook',
  'https://six.good.example/hook',
  'https://both.good.example/hook/%2F?a=b&c=[d]',
  'https://xn--bcher-kva.good.example/',
  'https://a-b--c.good.example/',
  'https://1.good.example/',
  'https://127-0-0-1.good.example/',
  'https://localhost.good.example/',
  'https://internal.good.example/',
  'https://93.184.216.34/',
  'https://1572395042/',
  'https://11.0.0.1/',
  'https://172.32.0.1/',
  'https://[2606:2800:220:1::34]/',
  'https://[2001:4860:4860::8888]:8443/v1',
];

const GOOD_ADDRESSES = ['93.184.216.34', '11.0.0.1', '172.32.0.1', '2606:2800:220:1::34', '2001:4860:4860::8888'];
const OWN_ADDRESSES = ['127.0.0.1', '::1', '93.184.216.200', '2606:2800:220:1::200'];
const OWN_PORTS = [18080, 19464];

function zoneOf(moving: Zone): Zone {
  return (name, family, nth) => {
    if (name.endsWith('.moving.example')) return moving(name, family, nth);
    if (name === 'six.good.example') return ['2606:2800:220:1::34'];
    if (name === 'two.good.example') return ['93.184.216.34', '93.184.216.35'];
    if (name === 'both.good.example') return ['93.184.216.34', '2606:2800:220:1::34'];
    if (name.endsWith('.good.example')) return ['93.184.216.34'];
    return HOSTILE_NAMES[name] ?? null;
  };
}

/** Name servers of a fake internet, one host that answers for all addresses, and a connector that counts connections and leads there. */
export class World {
  readonly dialed: DialTarget[] = [];
  /** The names under which the host was called. */
  readonly namesAsked: (string | false | null)[] = [];
  readonly names: NameServer;
  readonly resolve: Resolve;
  readonly #host: Server;
  readonly #certified: Certified;
  /** Called for a request to `/silent`, which the host never answers. */
  onSilent: () => void = () => {};

  private constructor(names: NameServer, certified: Certified) {
    this.names = names;
    this.resolve = createResolver({ servers: [names.address] });
    this.#certified = certified;
    this.#host = createServer(certified, (request, response) => {
      this.namesAsked.push((request.socket as TLSSocket & { servername?: string | false }).servername ?? null);
      const url = new URL(request.url ?? '/', 'https://host');
      response.setHeader('connection', 'close');
      if (url.pathname === '/silent') this.onSilent();
      else if (url.pathname === '/endless') response.write(Buffer.alloc(64 * 1024, 'x'));
      else if (url.pathname === '/broken') response.write('x', () => request.socket.destroy());
      else {
        response.statusCode = Number(url.searchParams.get('status') ?? 200);
        const to = url.searchParams.get('to');
        if (to !== null) response.setHeader('location', to);
        response.end(`${request.method} ${request.url}`);
      }
    });
  }

  static async start(moving: Zone = () => null): Promise<World> {
    const certified = certify(['*.good.example', '*.moving.example', ...GOOD_ADDRESSES]);
    const world = new World(await NameServer.start(zoneOf(moving)), certified);
    world.#host.listen(0, '127.0.0.1');
    await once(world.#host, 'listening');
    return world;
  }

  guard(terms: Partial<GuardTerms> = {}): GuardedEgress {
    return new GuardedEgress({
      clock: systemClock,
      allowLoopback: false,
      own: { ports: () => OWN_PORTS, names: ['gateway.own.example:8443'] },
      ownAddresses: () => OWN_ADDRESSES,
      resolve: this.resolve,
      dial: (target) => this.dial(target),
      certificateAuthorities: this.#certified.cert,
      ...terms,
    });
  }

  /** What any client without a guard does: parse, look up, connect. */
  async callUnguarded(text: string): Promise<void> {
    const egress = new UndiciClient({
      connect: pinnedConnector({
        findTargets: async (host, port) => {
          const addresses = isIP(host) === 0 ? await this.resolve(host) : [host];
          return addresses.map((address) => ({ address, port }));
        },
        dial: (target) => this.dial(target),
        clock: systemClock,
        certificateAuthorities: undefined,
      }),
    });
    try {
      const { origin, pathname, search } = new URL(text);
      await new Promise<void>((done) => {
        const receiver: ResponseReceiver = { head: () => {}, data: () => {}, end: done, failed: () => done() };
        egress.send({ origin, method: 'GET', path: pathname + search, headers: {}, body: null }, receiver);
      });
    } catch {
      // Not even a client without a guard can use it.
    } finally {
      await egress.close();
    }
  }

  dial(target: DialTarget): Socket {
    this.dialed.push(target);
    return connect({ host: '127.0.0.1', port: (this.#host.address() as AddressInfo).port });
  }

  get forbiddenDials(): readonly DialTarget[] {
    return this.dialed.filter(({ address }) => FORBIDDEN[familyOf(address)].check(address, familyOf(address)));
  }

  close(): void {
    this.names.close();
    this.#host.closeAllConnections();
    this.#host.close();
  }
}

/**
 * Forbidden addresses, classified by Node and listed here again as a second opinion; one list per family, because a
 * shared list mixes them up.
 */
const FORBIDDEN = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const block of [
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24',
  '192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15',
  '198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 93.184.216.200/32',
  '::/3 2001::/23 2001:db8::/32 2002::/16 2620:4f:8000::/48 3ffe::/16 3fff::/20 4000::/2 8000::/1',
  '2606:2800:220:1::200/128',
].flatMap((line) => line.split(' '))) {
  const [address = '', length] = block.split('/');
  FORBIDDEN[familyOf(address)].addSubnet(address, Number(length), familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}
