export interface SseEvent {
  /** The name of the event; `message` if it has none. */
  readonly event: string;
  readonly data: string;
}

/** A name and a value; a line without a colon has a name only. */
const FIELD = /^([^:]*):? ?(.*)$/s;

/** Server-sent events from bytes in pieces of any size, with any of the three line endings. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #event = '';
  #data: string[] = [];

  push(bytes: Uint8Array): SseEvent[] {
    const text = this.#rest + this.#decoder.decode(bytes, { stream: true });
    // A carriage return at the end may be the first half of a line ending.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop()!;
    return lines.flatMap((line) => this.#read(line) ?? []);
  }

  #read(line: string): SseEvent | null {
    if (line === '') return this.#dispatch();
    const [, name, value] = FIELD.exec(line)!;
    if (name === 'event') this.#event = value!;
    if (name === 'data') this.#data.push(value!);
    return null;
  }

  #dispatch(): SseEvent | null {
    const event = { event: this.#event || 'message', data: this.#data.join('\n') };
    const hasData = this.#data.length > 0;
    this.#event = '';
    this.#data = [];
    return hasData ? event : null;
  }
}
