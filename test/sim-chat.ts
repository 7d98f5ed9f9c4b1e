import { expect } from 'vitest';
import { parseJson } from '../src/json/json.ts';
import type { Sim } from '../src/sim/sim-handle.ts';
import { callRaw, eventsOf } from './raw-client.ts';

type Json = Record<string, unknown>;

export interface Completion {
  id: string;
  model: string;
  created: number;
  choices: {
    index: number;
    message: {
      content: string | null;
      reasoning_content?: string;
      tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    };
    finish_reason: string;
    logprobs: unknown;
  }[];
  usage: Usage;
}

interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  prompt_tokens_details: { cached_tokens: number; cache_write_tokens: number };
  completion_tokens_details: { reasoning_tokens: number };
}

interface Chunk {
  id: string;
  object: string;
  choices: {
    index: number;
    delta: { role?: string; content?: string | null; reasoning_content?: string; tool_calls?: Fragment[] };
    finish_reason: string | null;
  }[];
  usage?: Usage | null;
}

interface Fragment {
  index: number;
  id?: string;
  function: { name?: string; arguments: string };
}

export const ASK = { model: 'sim-gpt', messages: [{ role: 'user', content: 'How are you?' }] };

/** Chat calls directly to the simulator: one question, with what each test adds to it. */
export class SimChat {
  readonly #path: string;

  constructor(sim: Sim) {
    this.#path = `${sim.url}/v1/chat/completions`;
  }

  async complete(more: Json = {}): Promise<Completion> {
    const answer = await callRaw(this.#path, { ...ASK, ...more });
    expect(answer.status, answer.text).toBe(200);
    return parseJson(answer.text) as Completion;
  }

  async stream(more: Json = {}): Promise<Chunk[]> {
    const answer = await callRaw(this.#path, { ...ASK, stream: true, ...more });
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    const events = eventsOf(answer.text);
    expect(events.pop()).toBe('[DONE]');
    return events.map((event) => parseJson(event) as Chunk);
  }

  async refusal(more: Json): Promise<{ status: number; error: Json }> {
    const answer = await callRaw(this.#path, { ...ASK, ...more });
    return { status: answer.status, error: (parseJson(answer.text) as { error: Json }).error };
  }
}

export function functionTool(name: string, properties: Json) {
  return { type: 'function', function: { name, parameters: { type: 'object', properties } } };
}

export const WEATHER = functionTool('get_weather', { city: { type: 'string' }, days: { type: 'integer', minimum: 3 } });
export const TIME = functionTool('get_time', { zone: { enum: ['UTC', 'CET'] } });
