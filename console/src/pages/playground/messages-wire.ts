import { type Entry, type Piece, splitDataUrl, textPartOf, type Wire } from './wire.ts';

interface MessagesEvent {
  readonly type?: string;
  readonly error?: { readonly message?: string };
  readonly content_block?: { readonly type: string; readonly id?: string; readonly name?: string };
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly thinking?: string;
    readonly partial_json?: string;
  };
}

/** This route needs a limit. */
const TOKENS_UNLESS_GIVEN = 1024;

export const messagesWire: Wire = {
  name: 'messages',
  label: 'Messages',
  path: '/v1/messages',
  body: ({ model, system, maxTokens, temperature, tools }, entries) => ({
    model,
    max_tokens: maxTokens ?? TOKENS_UNLESS_GIVEN,
    ...(system === '' ? {} : { system }),
    messages: entries.map(messageOf),
    ...(temperature === null ? {} : { temperature }),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map(({ parameters, ...rest }) => ({ ...rest, input_schema: parameters })) }),
    stream: true,
  }),
  read: (event): readonly Piece[] => {
    const { type, error, content_block: block, delta } = event as MessagesEvent;
    if (type === 'error')
      return [{ type: 'error', message: error?.message ?? 'The stream ended before the answer was complete.' }];
    if (type === 'content_block_start' && block?.type === 'tool_use')
      return [{ type: 'tool', id: block.id ?? '', name: block.name ?? '', input: '' }];
    if (type !== 'content_block_delta' || delta === undefined) return [];
    if (delta.text !== undefined) return [{ type: 'text', text: delta.text }];
    if (delta.thinking !== undefined) return [{ type: 'reasoning', text: delta.thinking }];
    return delta.partial_json === undefined ? [] : [{ type: 'tool', input: delta.partial_json }];
  },
};

function messageOf(entry: Entry): object {
  if (entry.role === 'tool')
    return {
      role: 'user',
      content: entry.callIds.map((id) => ({ type: 'tool_result', tool_use_id: id, content: entry.text })),
    };
  if (entry.role === 'assistant') {
    if (entry.toolCalls.length === 0) return { role: 'assistant', content: entry.text };
    const calls = entry.toolCalls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: inputOf(input) }));
    return {
      role: 'assistant',
      content: [...(entry.text === '' ? [] : [{ type: 'text', text: entry.text }]), ...calls],
    };
  }
  if (entry.images.length === 0) return { role: 'user', content: entry.text };
  const images = entry.images.map((url) => {
    const { mediaType, base64 } = splitDataUrl(url);
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data: base64 } };
  });
  return { role: 'user', content: [...images, ...textPartOf(entry, 'text')] };
}

/** This route takes the input of a call as an object. A model may have written something else. */
function inputOf(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return {};
  }
}
