import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, fetchGateway } from '../../api/client.ts';
import { callError, callHeaders } from '../../api/gateway-call.ts';
import { streamEvents } from './stream-events.ts';
import type { Entry, Piece, Terms, ToolCall, Wire } from './wire.ts';

/** One question and its answer, as far as it has come. */
export interface Turn {
  readonly id: number;
  readonly asked: Extract<Entry, { role: 'user' | 'tool' }>;
  readonly model: string;
  readonly text: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly error: string | null;
  /** Null until the gateway has answered. */
  readonly requestId: string | null;
  /** Refused calls have none. */
  readonly hasReceipt: boolean;
}

export interface CallSettings {
  readonly wire: Wire;
  readonly terms: Terms;
  readonly keyId: string | null;
}

export interface Conversation {
  readonly turns: readonly Turn[];
  readonly isRunning: boolean;
  send(asked: Turn['asked'], settings: CallSettings): void;
  stop(): void;
  clear(): void;
}

let lastTurn = 0;

/** A conversation with one model. It lives on this page only. */
export function useConversation(): Conversation {
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);
  const send = useCallback(
    (asked: Turn['asked'], settings: CallSettings) => {
      const stopping = new AbortController();
      current.current = stopping;
      lastTurn += 1;
      const id = lastTurn;
      const change = (next: (turn: Turn) => Turn): void =>
        setTurns((before) => before.map((turn) => (turn.id === id ? next(turn) : turn)));
      setTurns([...turns, newTurn(id, asked, settings.terms.model)]);
      void run([...turns.flatMap(entriesOf), asked], settings, stopping.signal, change);
    },
    [turns],
  );
  return {
    turns,
    isRunning: turns.some(({ state }) => state === 'running'),
    send,
    stop: () => current.current?.abort(),
    clear: () => {
      current.current?.abort();
      setTurns([]);
    },
  };
}

function newTurn(id: number, asked: Turn['asked'], model: string): Turn {
  return {
    ...{ id, asked, model, text: '', reasoning: '', toolCalls: [] },
    ...{ state: 'running', error: null, requestId: null, hasReceipt: false },
  };
}

/** What later requests contain of a turn. One without an answer is left out: hosts refuse an empty message of the model. */
export function entriesOf({ asked, text, toolCalls, state }: Turn): readonly Entry[] {
  const isEmpty = text === '' && (state === 'failed' || toolCalls.length === 0);
  if (isEmpty) return [];
  return [asked, { role: 'assistant', text, toolCalls }];
}

async function run(
  entries: readonly Entry[],
  { wire, terms, keyId }: CallSettings,
  signal: AbortSignal,
  change: (next: (turn: Turn) => Turn) => void,
): Promise<void> {
  try {
    const response = await fetchGateway(wire.path, {
      method: 'POST',
      headers: callHeaders(keyId),
      body: JSON.stringify(wire.body(terms, entries)),
      signal,
    });
    const requestId = response.headers.get('x-gateway-request-id');
    change((turn) => ({ ...turn, requestId, hasReceipt: response.ok }));
    if (!response.ok) throw await callError(response);
    for await (const event of streamEvents(response)) {
      const pieces = wire.read(event);
      if (pieces.length > 0) change((turn) => pieces.reduce(addPiece, turn));
    }
    change((turn) => ({ ...turn, state: turn.error === null ? 'done' : 'failed' }));
  } catch (error) {
    if (signal.aborted) return change((turn) => ({ ...turn, state: 'stopped' }));
    const message = error instanceof ApiError ? error.message : 'The connection broke before the answer was complete.';
    change((turn) => ({ ...turn, state: 'failed', error: message }));
  }
}

function addPiece(turn: Turn, piece: Piece): Turn {
  if (piece.type === 'text') return { ...turn, text: turn.text + piece.text };
  if (piece.type === 'reasoning') return { ...turn, reasoning: turn.reasoning + piece.text };
  if (piece.type === 'error') return { ...turn, error: piece.message };
  return { ...turn, toolCalls: addToolPiece(turn.toolCalls, piece) };
}

/** The first piece of a call has its name, later ones its input. A stream writes one call after the other. */
function addToolPiece(calls: readonly ToolCall[], piece: Extract<Piece, { type: 'tool' }>): readonly ToolCall[] {
  if (piece.name !== undefined && piece.name !== '')
    return [...calls, { id: piece.id ?? `call_${calls.length}`, name: piece.name, input: piece.input }];
  const last = calls.at(-1);
  return last === undefined ? calls : [...calls.slice(0, -1), { ...last, input: last.input + piece.input }];
}
