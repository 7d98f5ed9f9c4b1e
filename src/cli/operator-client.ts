import { request } from 'node:http';
import { parseJson } from '../json/json.ts';
import { stringifyJson } from '../json/stringify.ts';
import { LIMITS } from '../limits.ts';
import { OperatorError, type OperatorErrorView } from '../operator/error.ts';
import { EXIT } from './exit-codes.ts';
import { CliFailure, unreachable } from './failure.ts';

/** No process listens on the socket any more. */
export class SocketAbandoned extends Error {
  override readonly name = 'SocketAbandoned';
}

/** The server was asked and did not answer, so it may or may not have acted. */
export class AnswerLost extends CliFailure {
  constructor(message: string) {
    super(EXIT.unreachable, message, 'tollgate doctor');
  }
}

/** Sends a verb to the running server; resolves to the text of its answer. */
export async function callServer(socketPath: string, verb: string, input: object): Promise<string> {
  const { status, body } = await post(socketPath, `/operator/${verb}`, stringifyJson(input));
  if (status === 200) return body;
  const refused = readError(body);
  if (refused === null) throw new AnswerLost(`The running server answered ${verb} with status ${status}.`);
  throw new OperatorError(refused.code, refused.message, refused.hint);
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

function post(socketPath: string, path: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      host: 'localhost',
    };
    const call = request({ socketPath, path, method: 'POST', headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > LIMITS.operatorAnswerBytesMax) call.destroy(new Error('The answer is too large.'));
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
      response.on('error', (error: NodeJS.ErrnoException) => reject(explain(error, socketPath)));
    });
    call.on('error', (error: NodeJS.ErrnoException) => reject(explain(error, socketPath)));
    call.end(body);
  });
}

function explain(error: NodeJS.ErrnoException, socketPath: string): Error {
  if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') return new SocketAbandoned(error.message);
  if (error.code === 'EACCES') {
    return unreachable(
      `The server's control socket ${socketPath} belongs to another user.`,
      'run this command as that user',
    );
  }
  return new AnswerLost(`The running server closed the connection (${error.message}).`);
}
