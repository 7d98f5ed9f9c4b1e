export interface SseEvent {
  /** The name of the event; `message` if it has none. */
  readonly event: string;
  readonly data: string;
}

/** Server-sent events from bytes in pieces of any size, with any of the three line endings. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #event = '';
  #data: string[] = [];

  push(bytes: Uint8Array): SseEvent[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    // A carriage return at the end may be the first half of a line ending.
    const end = this.#rest.endsWith('\r') ? this.#rest.length - 1 : this.#rest.length;
    const lines = this.#rest.slice(0, end).split(/\r\n|\n|\r/);
    this.#rest = lines.pop()! + this.#rest.slice(end);
    return lines.flatMap((line) => this.#read(line) ?? []);
  }

  #read(line: string): SseEvent | null {
    if (line === '') return this.#dispatch();
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (name === 'event') this.#event = value;
    if (name === 'data') this.#data.push(value);
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
