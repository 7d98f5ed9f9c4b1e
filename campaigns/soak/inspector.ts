/** What a process uses after a garbage collection, in megabytes. */
export interface Memory {
  readonly rssMb: number;
  readonly heapMb: number;
  readonly externalMb: number;
}

const MB = 1024 * 1024;
const READY_ATTEMPTS_MAX = 200;
const READY_RETRY_MS = 50;

/** The inspector of a Node process, over which garbage can be collected from outside. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #lastId = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
      if (id === undefined) return;
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
  }

  static async connect(port: number): Promise<Inspector> {
    const socket = new WebSocket(await debuggerUrl(port));
    await new Promise((done, fail) => {
      socket.addEventListener('open', done, { once: true });
      socket.addEventListener('error', fail, { once: true });
    });
    return new Inspector(socket);
  }

  async memory(): Promise<Memory> {
    // Twice: what the first collection lets go may have kept other things alive.
    for (let at = 0; at < 2; at++) await this.#send('HeapProfiler.collectGarbage');
    const expression = 'JSON.stringify(process.memoryUsage())';
    const { result } = (await this.#send('Runtime.evaluate', { expression })) as { result: { value: string } };
    const { rss, heapUsed, external } = JSON.parse(result.value) as NodeJS.MemoryUsage;
    return { rssMb: rss / MB, heapMb: heapUsed / MB, externalMb: external / MB };
  }

  close(): void {
    this.#socket.close();
  }

  #send(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done) => this.#waiting.set(id, done));
  }
}

async function debuggerUrl(port: number): Promise<string> {
  for (let attempt = 0; attempt < READY_ATTEMPTS_MAX; attempt++) {
    const response = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => null);
    const [target] = response === null ? [] : ((await response.json()) as { webSocketDebuggerUrl: string }[]);
    if (target !== undefined) return target.webSocketDebuggerUrl;
    await new Promise((done) => setTimeout(done, READY_RETRY_MS));
  }
  throw new Error(`No inspector listens on port ${port}.`);
}
