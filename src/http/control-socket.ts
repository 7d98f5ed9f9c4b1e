import { rmSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from '../kit/platform-http.ts';
import { LIMITS } from '../limits.ts';

/** The response to one operator verb: a status and JSON text. */
interface VerbAnswer {
  readonly status: number;
  readonly body: string;
}

export type RunVerb = (verb: string, inputJson: string) => Promise<VerbAnswer>;

/** Listens for operator commands on a socket in the data folder, so that only users who may read the data can send them. */
export async function openControlSocket(path: string, runVerb: RunVerb): Promise<Server> {
  rmSync(path, { force: true });
  const server = createServer((request, response) => {
    answer(request, response, runVerb).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // The file appears within this call. With this mask it is never accessible to other users, not even briefly.
    const before = process.umask(0o177);
    try {
      server.listen(path, resolve);
    } finally {
      process.umask(before);
    }
  });
  // A connection that could not be accepted, for want of a descriptor, is lost; an unhandled error would end the gateway.
  server.on('error', () => {});
  return server;
}

async function answer(request: IncomingMessage, response: ServerResponse, runVerb: RunVerb): Promise<void> {
  const verb = /^\/operator\/([a-z.]+)$/.exec(request.url ?? '')?.[1];
  if (request.method !== 'POST' || verb === undefined) {
    response.writeHead(404).end();
    return;
  }
  const body = await readAll(request);
  const { status, body: text } = await runVerb(verb, body);
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

async function readAll(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LIMITS.operatorRequestBytesMax) throw new Error('The operator request is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
