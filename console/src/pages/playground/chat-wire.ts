import { type Entry, type Piece, textPartOf, type Wire } from './wire.ts';

interface Chunk {
  readonly error?: { readonly message?: string };
  readonly choices?: readonly {
    readonly delta?: {
      readonly content?: string | null;
      readonly refusal?: string | null;
      readonly reasoning_content?: string | null;
      readonly reasoning?: string | null;
      readonly tool_calls?: readonly {
        readonly id?: string;
        readonly function?: { readonly name?: string; readonly arguments?: string };
      }[];
    };
  }[];
}

export const chatWire: Wire = {
  name: 'chat',
  label: 'Chat completions',
  path: '/v1/chat/completions',
  body: ({ model, system, maxTokens, temperature, tools }, entries) => ({
    model,
    messages: [...(system === '' ? [] : [{ role: 'system', content: system }]), ...entries.flatMap(messagesOf)],
    ...(maxTokens === null ? {} : { max_completion_tokens: maxTokens }),
    ...(temperature === null ? {} : { temperature }),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', function: tool })) }),
    stream: true,
  }),
  read: (event) => {
    const { error, choices = [] } = event as Chunk;
    if (error !== undefined)
      return [{ type: 'error', message: error.message ?? 'The stream ended before the answer was complete.' }];
    return choices.flatMap(({ delta = {} }): Piece[] => [
      ...text('reasoning', delta.reasoning_content ?? delta.reasoning),
      ...text('text', delta.content),
      ...text('text', delta.refusal),
      ...(delta.tool_calls ?? []).map(({ id, function: call }) => ({
        type: 'tool' as const,
        ...(id === undefined ? {} : { id }),
        ...(call?.name === undefined ? {} : { name: call.name }),
        input: call?.arguments ?? '',
      })),
    ]);
  },
};

function messagesOf(entry: Entry): readonly object[] {
  if (entry.role === 'tool')
    return entry.callIds.map((id) => ({ role: 'tool', tool_call_id: id, content: entry.text }));
  if (entry.role === 'assistant')
    return [
      {
        role: 'assistant',
        content: entry.text === '' && entry.toolCalls.length > 0 ? null : entry.text,
        ...(entry.toolCalls.length === 0
          ? {}
          : {
              tool_calls: entry.toolCalls.map(({ id, name, input }) => ({
                id,
                type: 'function',
                function: { name, arguments: input },
              })),
            }),
      },
    ];
  if (entry.images.length === 0) return [{ role: 'user', content: entry.text }];
  const images = entry.images.map((url) => ({ type: 'image_url', image_url: { url } }));
  return [{ role: 'user', content: [...textPartOf(entry, 'text'), ...images] }];
}

function text(type: 'text' | 'reasoning', value: string | null | undefined): Piece[] {
  return value === null || value === undefined || value === '' ? [] : [{ type, text: value }];
}
