import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/**
 * A receiver of OTLP over HTTP in a process of its own, for tests of traces. `GET /received` returns what it was sent, as
 * text and with the headers. Told to fail, it answers 400, after which a client does not try again.
 */
const received: { headers: object; body: string }[] = [];
const isFailing = process.argv[2] === 'fail';
const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    if (request.method === 'GET') {
      response.end(JSON.stringify(received));
      return;
    }
    const bytes = Buffer.concat(pieces);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
    received.push({ headers: request.headers, body: body.toString() });
    response.writeHead(isFailing ? 400 : 200, { 'content-type': 'application/json' }).end('{}');
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
