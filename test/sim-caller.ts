import { expect } from 'vitest';
import { parseJson } from '../src/json/json.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import { callRaw, type RawAnswer } from './raw-client.ts';

export type Json = Record<string, unknown>;

/** A server-sent event as it was sent. */
interface SentEvent {
  /** null without an `event:` line. */
  readonly name: string | null;
  readonly data: string;
}

/** Calls to one path of the simulator: one question, with what each test adds to it. */
export class SimCaller<Answer> {
  readonly #url: string;
  readonly #ask: Json;
  readonly #headers: Record<string, string>;

  constructor(sim: Sim, path: string, ask: Json, headers: Record<string, string> = {}) {
    this.#url = sim.url + path;
    this.#ask = ask;
    this.#headers = headers;
  }

  send(more: Json = {}, headers: Record<string, string> = {}): Promise<RawAnswer> {
    return callRaw(this.#url, { ...this.#ask, ...more }, { headers: { ...this.#headers, ...headers } });
  }

  async complete(more: Json = {}): Promise<Answer> {
    const answer = await this.send(more);
    expect(answer.status, answer.text).toBe(200);
    return parseJson(answer.text) as Answer;
  }

  async stream(more: Json = {}): Promise<SentEvent[]> {
    const answer = await this.send({ stream: true, ...more });
    expect(answer.headers['content-type'], answer.text).toBe('text/event-stream; charset=utf-8');
    return sentEvents(answer.text);
  }

  async refusal(more: Json, headers: Record<string, string> = {}): Promise<{ status: number; body: Json }> {
    const answer = await this.send(more, headers);
    return { status: answer.status, body: parseJson(answer.text) as Json };
  }
}

export function sentEvents(text: string): SentEvent[] {
  const events: SentEvent[] = [];
  for (const block of text.split(/\r?\n\r?\n/)) {
    const lines = block.split(/\r?\n/);
    const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length));
    const name = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length) ?? null;
    if (data.length > 0) events.push({ name, data: data.join('\n') });
  }
  return events;
}

export function dataOf(events: readonly SentEvent[]): Json[] {
  return events.map((event) => parseJson(event.data) as Json);
}
