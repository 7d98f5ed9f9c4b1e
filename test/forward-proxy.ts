import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/**
 * A forward proxy as a process of its own: CONNECT tunnels and requests in absolute form. Every name leads to this machine.
 * It prints a JSON line with its port, then one for each request. With an argument, it asks for those credentials.
 */
const [credentials] = process.argv.slice(2);
const expected = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function mayPass({ headers }: IncomingMessage): boolean {
  return headers['proxy-authorization'] === expected;
}

const server = createServer((incoming, outgoing) => {
  const url = new URL(incoming.url ?? '');
  print({ method: incoming.method, target: url.origin });
  if (!mayPass(incoming)) {
    outgoing.writeHead(407, { 'content-length': 0 }).end();
    return;
  }
  const { 'proxy-authorization': _, ...headers } = incoming.headers;
  const onward = request({ host: '127.0.0.1', port: url.port, method: incoming.method, path: url.pathname, headers });
  onward.on('response', (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
});

server.on('connect', (incoming, socket) => {
  print({ method: 'CONNECT', target: incoming.url });
  socket.on('error', () => {});
  if (!mayPass(incoming)) {
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n');
    return;
  }
  const onward = connect(Number(incoming.url?.split(':')[1]), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    onward.pipe(socket).pipe(onward);
  });
  onward.on('error', () => socket.destroy());
  socket.on('close', () => onward.destroy());
});

server.listen(0, '127.0.0.1');
await once(server, 'listening');
print({ port: (server.address() as AddressInfo).port });
