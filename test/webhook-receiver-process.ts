import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';

/**
 * A receiver of webhooks in a process of its own. It reads the secret to verify with and the status to answer with from
 * stdin, a line of JSON each, and writes what it received to stdout.
 */
interface Settings {
  readonly secret?: string;
  readonly status?: number;
  readonly location?: string;
}

let settings: Settings = {};
const say = (value: object): void => void process.stdout.write(`${JSON.stringify(value)}\n`);

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks).toString();
    say({ received: { path: request.url, headers: request.headers, ...verified(body, request.headers) } });
    response.writeHead(settings.status ?? 200, settings.location === undefined ? {} : { location: settings.location });
    response.end('what the receiver answers is shown to nobody');
  });
});
server.listen(0, '127.0.0.1', () => say({ port: (server.address() as AddressInfo).port }));

function verified(body: string, headers: Record<string, unknown>): object {
  try {
    const event = new Webhook(settings.secret ?? '').verify(body, headers as Record<string, string>);
    return { event };
  } catch (error) {
    return { refused: String(error) };
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  settings = { ...settings, ...(JSON.parse(line) as Settings) };
  say({ settings });
});
process.stdin.on('end', () => process.exit());
