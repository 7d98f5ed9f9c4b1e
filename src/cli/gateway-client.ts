import type { IncomingMessage, RequestOptions } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tryParseJson } from '../json/json.ts';
import { request as requestPlain } from '../kit/platform-http.ts';
import { LIMITS } from '../limits.ts';
import { EXIT } from './exit-codes.ts';
import { CliFailure } from './failure.ts';

export interface GatewayAddress {
  /** Without `/v1`. */
  readonly url: string;
  /** Null if the gateway needs none. */
  readonly key: string | null;
  /** Whether the address was typed; otherwise it is that of the gateway on this machine. */
  readonly isNamed: boolean;
}

export interface Upload {
  readonly body: Readable;
  readonly bytes: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** No answer, or an incomplete one, came back. */
export class GatewayLost extends CliFailure {}

/** Calls a gateway as any caller does, with a key. */
export class GatewayClient {
  readonly #address: GatewayAddress;

  constructor(address: GatewayAddress) {
    this.#address = address;
  }

  /** The text of a JSON answer. Throws what the gateway refused. */
  async text(method: 'GET' | 'POST' | 'DELETE', path: string): Promise<string> {
    return this.#readText(await this.#send(method, path, null));
  }

  async upload(path: string, upload: Upload): Promise<string> {
    return this.#readText(await this.#send('POST', path, upload));
  }

  /** The answer piece by piece; a refusal is thrown before the first. */
  async *pieces(path: string): AsyncGenerator<Buffer> {
    const response = await this.#send('GET', path, null);
    if (response.statusCode !== 200) throw refused(response, await this.#collect(response));
    try {
      for await (const piece of response) yield piece as Buffer;
    } catch (error) {
      throw this.#lost(error as Error);
    }
  }

  /** The answer of a call as it was stored, whatever its status. */
  async stored(path: string): Promise<{ status: number; body: Buffer; isAnswer: boolean }> {
    const response = await this.#send('GET', path, null);
    const body = await this.#collect(response);
    // What the call answered has the id of its receipt and its cost; our own refusals cost nothing.
    return {
      status: response.statusCode ?? 0,
      body,
      isAnswer: response.headers['x-gateway-effective-model'] !== undefined,
    };
  }

  #send(method: string, path: string, upload: Upload | null): Promise<IncomingMessage> {
    const { url, key } = this.#address;
    const target = new URL(`${url}/v1${path}`);
    const options: RequestOptions = {
      method,
      timeout: LIMITS.jobClientSilenceMs,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(upload === null
          ? { 'content-length': 0 }
          : { 'content-type': upload.type, 'content-length': upload.bytes, ...upload.headers }),
      },
    };
    return new Promise((resolve, reject) => {
      const isSecure = target.protocol === 'https:';
      const send = isSecure ? process.getBuiltinModule('node:https').request : requestPlain;
      const call = send(target, options, resolve);
      call.on('timeout', () => call.destroy(new Error('no answer')));
      call.on('error', (error) => reject(this.#lost(error)));
      if (upload === null) call.end();
      // A refusal may come before the whole file was sent; then the answer counts, not the failed upload.
      else pipeline(upload.body, call).catch((error: Error) => reject(this.#lost(error)));
    });
  }

  async #readText(response: IncomingMessage): Promise<string> {
    const body = await this.#collect(response);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return body.toString();
    throw refused(response, body);
  }

  /** An answer that breaks off is lost, like one that never came. */
  async #collect(response: IncomingMessage): Promise<Buffer> {
    try {
      return await collect(response);
    } catch (error) {
      throw error instanceof CliFailure ? error : this.#lost(error as Error);
    }
  }

  #lost({ message }: Error): CliFailure {
    const { url, isNamed } = this.#address;
    const hint = isNamed ? 'check the address after --url' : 'tollgate doctor';
    return new GatewayLost(EXIT.unreachable, `The gateway at ${url} cannot be reached (${message}).`, hint);
  }
}

async function collect(response: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response) {
    bytes += (piece as Buffer).length;
    if (bytes > LIMITS.operatorAnswerBytesMax)
      throw new CliFailure(EXIT.no, 'The answer of the gateway is too large. Ask for less, for example with --limit.');
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

function refused({ statusCode }: IncomingMessage, body: Buffer): CliFailure {
  const { error } = (tryParseJson(body.toString()) ?? {}) as { error?: { message?: string; code?: string } };
  if (typeof error?.message !== 'string')
    return new CliFailure(EXIT.no, `The server answered with status ${statusCode}; is it a Tollgate gateway?`);
  const hint =
    statusCode === 401 ? 'put a gateway key into TOLLGATE_API_KEY, or name its variable with --key-env' : null;
  return new CliFailure(EXIT.no, `${error.message} (${error.code ?? statusCode})`, hint);
}
