/** The heap of one thread after a garbage collection, in megabytes, with the buffers that it holds. */
export interface ThreadHeap {
  /** `main`, or the name of the thread. */
  readonly thread: string;
  readonly heapMb: number;
  /** How much of it is code as V8 compiled it. */
  readonly codeMb: number;
}

const MB = 1024 * 1024;
const READY_ATTEMPTS_MAX = 200;
const READY_RETRY_MS = 50;
const MAIN = 'main';
/** Machine code, and bytecode with what V8 knows about both. Nothing that a program can reach is in them. */
const CODE_SPACES: ReadonlySet<string> = new Set([
  'code_space',
  'code_large_object_space',
  'trusted_space',
  'trusted_large_object_space',
]);

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
}

/** The inspector of a Node process, over which the garbage of each of its threads can be collected from outside. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #main: Session;
  /** By the id of the session. */
  readonly #threads = new Map<string, { readonly name: string; readonly session: Session }>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.#main = new Session((message) => socket.send(message));
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data)) as Message));
  }

  static async connect(port: number): Promise<Inspector> {
    const socket = new WebSocket(await debuggerUrl(port));
    await new Promise((done, fail) => {
      socket.addEventListener('open', done, { once: true });
      socket.addEventListener('error', fail, { once: true });
    });
    const inspector = new Inspector(socket);
    await inspector.#main.send('NodeWorker.enable', { waitForDebuggerOnStart: false });
    return inspector;
  }

  /** The heaps of all threads that run now, the main thread first. */
  async heaps(): Promise<ThreadHeap[]> {
    const threads = [...this.#threads.values()];
    const named = threads.map(({ name, session }, at) => ({
      thread: threads.filter((other) => other.name === name).length > 1 ? `${name}-${at}` : name,
      session,
    }));
    const heaps: ThreadHeap[] = [];
    for (const { thread, session } of [{ thread: MAIN, session: this.#main }, ...named])
      heaps.push({ thread, ...(await session.heap()) });
    return heaps;
  }

  close(): void {
    this.#socket.close();
  }

  #receive(message: Message): void {
    const params = message.params as { sessionId: string; message: string; workerInfo: { title: string; url: string } };
    if (message.method === 'NodeWorker.attachedToWorker') this.#attach(params.sessionId, params.workerInfo);
    else if (message.method === 'NodeWorker.detachedFromWorker') this.#threads.delete(params.sessionId);
    else if (message.method === 'NodeWorker.receivedMessageFromWorker')
      this.#threads.get(params.sessionId)?.session.receive(JSON.parse(params.message) as Message);
    else this.#main.receive(message);
  }

  #attach(sessionId: string, { url }: { readonly url: string }): void {
    const name = /([\w-]+)\.\w+$/.exec(url)?.[1] ?? url;
    const session = new Session((message) => {
      void this.#main.send('NodeWorker.sendMessageToWorker', { sessionId, message });
    });
    this.#threads.set(sessionId, { name, session });
  }
}

/** Requests to one thread, and their answers. */
class Session {
  readonly #post: (message: string) => void;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #lastId = 0;

  constructor(post: (message: string) => void) {
    this.#post = post;
  }

  send(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#lastId;
    const answered = new Promise((done) => this.#waiting.set(id, done));
    this.#post(JSON.stringify({ id, method, params }));
    return answered;
  }

  receive({ id, result }: Message): void {
    if (id === undefined) return;
    this.#waiting.get(id)?.(result);
    this.#waiting.delete(id);
  }

  async heap(): Promise<Omit<ThreadHeap, 'thread'>> {
    // Twice: what the first collection lets go may have kept other things alive.
    for (let at = 0; at < 2; at++) await this.send('HeapProfiler.collectGarbage');
    type Usage = { readonly usedSize: number; readonly backingStorageSize?: number };
    const { usedSize, backingStorageSize = 0 } = (await this.send('Runtime.getHeapUsage')) as Usage;
    return { heapMb: (usedSize + backingStorageSize) / MB, codeMb: (await this.#codeBytes()) / MB };
  }

  async #codeBytes(): Promise<number> {
    const asked = { expression: 'process.getBuiltinModule("node:v8").getHeapSpaceStatistics()', returnByValue: true };
    type Spaces = { readonly space_name: string; readonly space_used_size: number }[];
    const { result } = (await this.send('Runtime.evaluate', asked)) as { result: { value: Spaces } };
    return result.value
      .filter(({ space_name }) => CODE_SPACES.has(space_name))
      .reduce((sum, { space_used_size }) => sum + space_used_size, 0);
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
