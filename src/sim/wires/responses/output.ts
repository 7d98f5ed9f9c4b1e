import type { Choice } from '../../answer.ts';
import type { SimHost } from '../../reply.ts';
import { encryptThought } from './reasoning.ts';
import type { ResponsesRequest } from './request.ts';

/** The answer as items, before they are written whole or event by event. */
export type OutputItem = ReasoningItem | MessageItem | CallItem;

export interface ReasoningItem {
  readonly kind: 'reasoning';
  readonly id: string;
  /** The visible part of the reasoning. */
  readonly summary: string;
  readonly tokens: number;
  /** Null if the caller did not ask for it; each time it is written, the value differs. */
  readonly seal: ((occasion: Occasion) => string) | null;
}

export interface MessageItem {
  readonly kind: 'message';
  readonly id: string;
  readonly text: string;
  readonly refused: boolean;
  readonly status: ItemStatus;
}

export interface CallItem {
  readonly kind: 'call';
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly status: ItemStatus;
}

type Occasion = 'added' | 'done' | 'completed';
type ItemStatus = 'completed' | 'incomplete';

export function composeOutput(choice: Choice, request: ResponsesRequest, host: SimHost): OutputItem[] {
  const items: OutputItem[] = [];
  const status = choice.finish === 'length' ? 'incomplete' : 'completed';
  if (choice.reasoning !== '') items.push(reasoningItem(choice, request, host));
  // A limit reached during reasoning leaves no message at all.
  if (choice.text !== null && (choice.text !== '' || items.length === 0)) {
    const { text, refused } = choice;
    items.push({ kind: 'message', id: host.mintId('msg_'), text, refused, status });
  }
  for (const [index, call] of choice.calls.entries()) {
    const isLast = index === choice.calls.length - 1;
    const ids = { id: host.mintId('fc_'), callId: host.mintId('call_') };
    items.push({ kind: 'call', ...ids, ...call, status: isLast ? status : 'completed' });
  }
  return items;
}

function reasoningItem(choice: Choice, { prompt, reasoning, sealed }: ResponsesRequest, host: SimHost): ReasoningItem {
  return {
    kind: 'reasoning',
    id: host.mintId('rs_'),
    summary: reasoning.summary === null ? '' : choice.reasoning,
    tokens: choice.reasoningTokens,
    seal: sealed ? (occasion) => encryptThought(prompt.model, choice.reasoning, occasion) : null,
  };
}

/** An item when it is complete. */
export function writeItem(item: OutputItem, occasion: Occasion): object {
  switch (item.kind) {
    case 'reasoning':
      return { ...openItem(item, occasion), summary: item.summary === '' ? [] : [summaryPart(item.summary)] };
    case 'message':
      return { ...openItem(item, occasion), status: item.status, content: [contentPart(item, item.text)] };
    case 'call':
      return { ...openItem(item, occasion), status: item.status, arguments: item.arguments };
  }
}

/** An item when it begins. */
export function openItem(item: OutputItem, occasion: Occasion): object {
  const { id } = item;
  switch (item.kind) {
    case 'reasoning': {
      const sealed = item.seal === null ? {} : { content: [], encrypted_content: item.seal(occasion) };
      return { id, type: 'reasoning', ...sealed, summary: [] };
    }
    case 'message':
      return { id, type: 'message', status: 'in_progress', content: [], role: 'assistant' };
    case 'call': {
      const { callId, name } = item;
      return { id, type: 'function_call', status: 'in_progress', arguments: '', call_id: callId, name };
    }
  }
}

export function summaryPart(text: string): object {
  return { type: 'summary_text', text };
}

export function contentPart({ refused }: MessageItem, text: string): object {
  return refused ? { type: 'refusal', refusal: text } : { type: 'output_text', annotations: [], logprobs: [], text };
}
