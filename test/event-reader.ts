import { until } from './until.ts';

interface ServerEvent {
  readonly event: string;
  readonly id: string | null;
  readonly data: Record<string, unknown>;
}

/** Follows a response of server-sent events. */
export class EventReader {
  readonly status: number;
  readonly events: ServerEvent[] = [];
  hasEnded = false;
  readonly #abort: AbortController;

  /** A refusal is read to its end. */
  static async open(url: string, headers: Record<string, string>): Promise<EventReader> {
    const abort = new AbortController();
    return new EventReader(await fetch(url, { headers, signal: abort.signal }), abort);
  }

  constructor(response: Response, abort: AbortController) {
    this.status = response.status;
    this.#abort = abort;
    void this.#read(response).finally(() => {
      this.hasEnded = true;
    });
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    try {
      for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
        const frames = (text + piece).split('\n\n');
        text = frames.pop()!;
        this.events.push(...frames.filter((frame) => !frame.startsWith(':')).map(parse));
      }
    } catch {
      // Aborted.
    }
  }

  /** The ids of the receipts that have come. */
  get receipts(): unknown[] {
    return this.events.filter(({ event }) => event === 'receipt').map(({ data }) => data.id);
  }

  async ready(): Promise<this> {
    await until(() => this.events.length > 0 || this.hasEnded, 'the feed is ready');
    return this;
  }

  leave(): void {
    this.#abort.abort();
  }
}

function parse(frame: string): ServerEvent {
  const fields = new Map(frame.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
  return {
    event: fields.get('event') ?? 'message',
    id: fields.get('id') ?? null,
    data: JSON.parse(fields.get('data') ?? '{}') as Record<string, unknown>,
  };
}
