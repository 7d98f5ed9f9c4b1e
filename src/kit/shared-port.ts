import { type AddressInfo, createServer, type Server } from 'node:net';

/**
 * Whether several servers of this process can listen on one port, so that the system spreads connections over them. It is
 * tried, because it depends on the system and on the version of Node, which may ignore the option without a word.
 */
export async function canSharePort(): Promise<boolean> {
  const first = createServer();
  const second = createServer();
  try {
    await listen(first, 0);
    await listen(second, (first.address() as AddressInfo).port);
    return true;
  } catch {
    return false;
  } finally {
    first.close();
    second.close();
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port, reusePort: true }, resolve);
  });
}
