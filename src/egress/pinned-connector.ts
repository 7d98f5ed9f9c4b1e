import { isIP, type Socket } from 'node:net';
import { connect as startTls } from 'node:tls';
import type { Connector, Dialling } from '../http1/kept-connection.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { EgressFailure } from './forbidden-url.ts';

/** A checked address and its port. */
export interface DialTarget {
  readonly address: string;
  readonly port: number;
}

/** Starts to connect. It must not look up names. */
export type Dial = (target: DialTarget) => Socket;

interface ConnectorTerms {
  /** All current addresses of a host, each of them checked. Throws if any is forbidden. */
  readonly findTargets: (host: string, port: number) => Promise<readonly DialTarget[]>;
  readonly dial: Dial;
  readonly clock: Clock;
  /** For tests: trusted instead of the usual authorities. */
  readonly certificateAuthorities: string | undefined;
}

/**
 * Opens connections for a pool. It looks the host up once, checks the addresses, and connects to exactly those, so a name
 * cannot be pointed elsewhere in between. TLS still verifies the certificate against the host's name.
 */
export function pinnedConnector(terms: ConnectorTerms): Connector {
  return ({ hostname, port, protocol }, callback) => {
    const secure = protocol === 'https:';
    const attempt = new Attempt();
    openConnection(terms, { host: hostname, port: Number(port) || (secure ? 443 : 80), secure }, attempt).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
    return attempt;
  };
}

/** One attempt to connect, which ends early if the request is cancelled. */
class Attempt implements Dialling {
  #socket: Socket | null = null;
  #error: Error | null = null;

  destroy(error: Error): void {
    this.#error = error;
    this.#socket?.destroy(error);
  }

  uses(socket: Socket): Socket {
    this.#socket = socket;
    return socket;
  }

  throwIfDestroyed(): void {
    if (this.#error !== null) throw this.#error;
  }
}

interface Goal {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

async function openConnection(terms: ConnectorTerms, { host, port, secure }: Goal, attempt: Attempt): Promise<Socket> {
  const targets = await terms.findTargets(host, port);
  let failure: unknown = null;
  for (const target of targets.slice(0, LIMITS.callerUrlDialsMax)) {
    attempt.throwIfDestroyed();
    try {
      const socket = await opened(terms, attempt.uses(terms.dial(target)), 'connect');
      attempt.throwIfDestroyed();
      return secure ? await opened(terms, attempt.uses(withTls(terms, socket, host)), 'secureConnect') : socket;
    } catch (error) {
      failure = error;
    }
  }
  throw explainFailure(failure);
}

function withTls({ certificateAuthorities }: ConnectorTerms, socket: Socket, host: string): Socket {
  return startTls({
    socket,
    // The name that the certificate must match. SNI (`servername`) does not allow addresses.
    host,
    servername: isIP(host) === 0 ? host : '',
    ALPNProtocols: ['http/1.1'],
    ...(certificateAuthorities === undefined ? {} : { ca: certificateAuthorities }),
  });
}

function opened({ clock }: ConnectorTerms, socket: Socket, event: 'connect' | 'secureConnect'): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const timer = clock.after(LIMITS.callerUrlConnectMs, () => {
    socket.destroy(new EgressFailure('timeout', 'The host did not accept the connection in time.'));
  });
  const fail = (error: Error): void => {
    timer.cancel();
    socket.destroy();
    reject(error);
  };
  const onClose = (): void => fail(new EgressFailure('unreachable', 'The host closed the connection at once.'));
  socket.setNoDelay(true);
  // Never removed: under TLS nobody else listens to this socket, and an unhandled error would end the process.
  socket.on('error', fail);
  socket.once('close', onClose);
  socket.once(event, () => {
    timer.cancel();
    socket.removeListener('close', onClose);
    resolve(socket);
  });
  return promise;
}

/** Tells the caller what is wrong with the certificate, but nothing about our network. */
function explainFailure(failure: unknown): EgressFailure {
  if (failure instanceof EgressFailure) return failure;
  const code = failure instanceof Error && 'code' in failure ? String(failure.code) : '';
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER|VERIFY/.test(code)) {
    return new EgressFailure('certificate', `The host has no trusted certificate for its name (${code}).`, failure);
  }
  return new EgressFailure('unreachable', 'The host cannot be reached.', failure);
}
