import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** The addresses of a name at its nth question of that family; null if there is no such name. */
export type Zone = (name: string, family: 4 | 6, nth: number) => readonly string[] | null;

const TYPE_A = 1;
const TYPE_AAAA = 28;

/** A real name server on loopback UDP, which may answer the same question differently each time. */
export class NameServer {
  readonly #socket: Socket = createSocket('udp4');
  readonly #asked = new Map<string, number>();
  readonly #zone: Zone;

  private constructor(zone: Zone) {
    this.#zone = zone;
    this.#socket.on('message', (query, { port, address }) => {
      this.#socket.send(this.#answer(query), port, address);
    });
  }

  static async start(zone: Zone): Promise<NameServer> {
    const server = new NameServer(zone);
    server.#socket.bind(0, '127.0.0.1');
    await once(server.#socket, 'listening');
    return server;
  }

  /** Where to ask, as a resolver is told. */
  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  /** How often the addresses of a name were asked for. */
  questions(name: string): number {
    return this.#asked.get(`${name}/4`) ?? 0;
  }

  close(): void {
    this.#socket.close();
  }

  #answer(query: Buffer): Buffer {
    const { name, end } = readName(query, 12);
    const type = query.readUInt16BE(end);
    const family = type === TYPE_AAAA ? 6 : 4;
    const asked = `${name}/${family}`;
    const nth = this.#asked.get(asked) ?? 0;
    this.#asked.set(asked, nth + 1);
    const found = this.#zone(name, family, nth);
    const addresses = (found ?? []).filter((address) => isIP(address) === family);
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(found === null ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const question = query.subarray(12, end + 4);
    return Buffer.concat([head, question, ...addresses.map((address) => record(type, address))]);
  }
}

function readName(query: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  while (query[at] !== 0) {
    const length = query[at]!;
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

/** An answer to the question at the packet's start, with no time to live: it must be asked for again. */
function record(type: number, address: string): Buffer {
  const data = type === TYPE_A ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

export function ipv6Bytes(address: string): Buffer {
  // The URL parser spells every address in hexadecimal groups.
  const text = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [before = [], after = []] = text.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const between = Array<string>(8 - before.length - after.length).fill('0');
  return Buffer.from([...before, ...between, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
