import { parseJson } from '../json/json.ts';
import { stringifyJson } from '../json/stringify.ts';
import type { Clock } from '../kit/clock.ts';
import { request } from '../kit/platform-http.ts';
import { LIMITS } from '../limits.ts';
import { OperatorError, type OperatorErrorView } from '../operator/error.ts';
import { EXIT } from './exit-codes.ts';
import { CliFailure, unreachable } from './failure.ts';
import { watchSilence } from './silence-watch.ts';

/** The running server that has the data folder open. */
export interface OperatorServer {
  readonly socketPath: string;
  /** Which process it is, for messages. */
  readonly name: string;
  readonly clock: Clock;
}

/** No process listens on the socket any more. */
export class SocketAbandoned extends Error {
  override readonly name = 'SocketAbandoned';
}

/** The server was asked and did not answer, so it may or may not have acted. */
export class ResponseLost extends CliFailure {
  constructor(message: string) {
    super(EXIT.unreachable, message, 'tollgate doctor');
  }
}

/** Sends a verb to the running server; resolves to the text of its answer. */
export async function callServer(server: OperatorServer, verb: string, input: object): Promise<string> {
  const watch = watchSilence(server.clock, LIMITS.operatorSilenceMs, (signal) => post(server, '/', '', signal));
  try {
    const { status, body } = await post(server, `/operator/${verb}`, stringifyJson(input), watch.signal);
    if (status === 200) return body;
    const refused = readError(body);
    if (refused === null) throw new ResponseLost(`${server.name} answered ${verb} with status ${status}.`);
    throw new OperatorError(refused.code, refused.message, refused.hint);
  } finally {
    watch.stop();
  }
}

function readError(body: string): OperatorErrorView['error'] | null {
  try {
    return (parseJson(body) as Partial<OperatorErrorView>).error ?? null;
  } catch {
    return null;
  }
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

function post(server: OperatorServer, path: string, body: string, signal: AbortSignal): Promise<Answer> {
  const { socketPath } = server;
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(explain(error, server, signal));
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      host: 'localhost',
    };
    const call = request({ socketPath, path, method: 'POST', headers, agent: false, signal }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > LIMITS.operatorAnswerBytesMax) call.destroy(new Error('the response is too large'));
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
      response.on('error', fail);
    });
    call.on('error', fail);
    call.end(body);
  });
}

function explain(error: NodeJS.ErrnoException, { socketPath, name }: OperatorServer, signal: AbortSignal): Error {
  if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') return new SocketAbandoned(error.message);
  if (error.code === 'EACCES') {
    return unreachable(
      `The server's control socket ${socketPath} belongs to another user.`,
      'run this command as that user',
    );
  }
  if (signal.aborted) {
    return new ResponseLost(`${name} did not answer within ${LIMITS.operatorSilenceMs / 1000} seconds.`);
  }
  return new ResponseLost(`${name} closed the connection (${error.message}).`);
}
