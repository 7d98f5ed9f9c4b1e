import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { tryParseJson } from '../json/json.ts';
import { request as requestPlain } from '../kit/platform-http.ts';
import { LIMITS } from '../limits.ts';
import { EXIT } from './exit-codes.ts';
import { CliFailure } from './failure.ts';

interface GatewayAddress {
  /** Without `/v1`. */
  readonly url: string;
  /** Null if the gateway needs none. */
  readonly key: string | null;
  /** Whether the address was typed; otherwise it is that of the gateway on this machine. */
  readonly isNamed: boolean;
}

interface Upload {
  readonly body: Readable;
  readonly bytes: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface GatewayRequest {
  readonly target: URL;
  readonly method: Method;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable | null;
  /** How long nothing may arrive. */
  readonly silenceMs: number;
}

export interface GatewayResponse extends AsyncIterable<Buffer> {
  readonly statusCode?: number | undefined;
  readonly headers: IncomingHttpHeaders;
}

export type SendRequest = (request: GatewayRequest) => Promise<GatewayResponse>;
type Method = 'GET' | 'POST' | 'DELETE';

/** No answer, or an incomplete one, came back. */
export class GatewayLost extends CliFailure {}

/** Calls a gateway as any caller does, with a key. */
export class GatewayClient {
  readonly #address: GatewayAddress;
  readonly #sendRequest: SendRequest;

  constructor(address: GatewayAddress, sendProxied: SendRequest | null = null) {
    this.#address = address;
    this.#sendRequest = sendProxied ?? sendDirectly;
  }

  /** The text of a JSON answer. Throws what the gateway refused. */
  async text(method: Method, path: string): Promise<string> {
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
      yield* response;
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

  async #send(method: Method, path: string, upload: Upload | null): Promise<GatewayResponse> {
    const { url, key } = this.#address;
    const request = {
      target: new URL(`${url}/v1${path}`),
      method,
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(upload === null
          ? { 'content-length': '0' }
          : { 'content-type': upload.type, 'content-length': String(upload.bytes), ...upload.headers }),
      },
      body: upload?.body ?? null,
      silenceMs: LIMITS.jobClientSilenceMs,
    };
    try {
      return await this.#sendRequest(request);
    } catch (error) {
      throw this.#lost(error as Error);
    }
  }

  async #readText(response: GatewayResponse): Promise<string> {
    const body = await this.#collect(response);
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return body.toString();
    throw refused(response, body);
  }

  /** An answer that breaks off is lost, like one that never came. */
  async #collect(response: GatewayResponse): Promise<Buffer> {
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

function sendDirectly({ target, body, silenceMs, ...head }: GatewayRequest): Promise<GatewayResponse> {
  return new Promise((resolve, reject) => {
    const isSecure = target.protocol === 'https:';
    const send = isSecure ? process.getBuiltinModule('node:https').request : requestPlain;
    const call = send(target, { ...head, timeout: silenceMs }, resolve);
    call.on('timeout', () => call.destroy(new Error('no answer')));
    call.on('error', reject);
    if (body === null) call.end();
    // A refusal may come before the whole file was sent; then the answer counts, not the failed upload.
    else pipeline(body, call).catch(reject);
  });
}

async function collect(response: GatewayResponse): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response) {
    bytes += piece.length;
    if (bytes > LIMITS.operatorAnswerBytesMax)
      throw new CliFailure(
        EXIT.no,
        'The response of the gateway is too large. Ask for less, for example with --limit.',
      );
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function refused({ statusCode }: GatewayResponse, body: Buffer): CliFailure {
  const { error } = (tryParseJson(body.toString()) ?? {}) as { error?: { message?: string; code?: string } };
  if (typeof error?.message !== 'string')
    return new CliFailure(EXIT.no, `The server answered with status ${statusCode}; is it a Tollgate gateway?`);
  const hint =
    statusCode === 401 ? 'put a gateway key into TOLLGATE_API_KEY, or name its variable with --key-env' : null;
  return new CliFailure(EXIT.no, `${error.message} (${error.code ?? statusCode})`, hint);
}
