import { type Entry, type Piece, textPartOf, type Wire } from './wire.ts';

interface ResponsesEvent {
  readonly type?: string;
  readonly delta?: string;
  readonly message?: string;
  readonly item?: { readonly type: string; readonly call_id?: string; readonly name?: string };
  readonly response?: { readonly error?: { readonly message?: string } | null };
}

export const responsesWire: Wire = {
  name: 'responses',
  label: 'Responses',
  path: '/v1/responses',
  body: ({ model, system, maxTokens, temperature, tools }, entries) => ({
    model,
    ...(system === '' ? {} : { instructions: system }),
    input: entries.flatMap(itemsOf),
    ...(maxTokens === null ? {} : { max_output_tokens: maxTokens }),
    ...(temperature === null ? {} : { temperature }),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: 'function', ...tool })) }),
    stream: true,
  }),
  read: (event): readonly Piece[] => {
    const { type, delta = '', item, message, response } = event as ResponsesEvent;
    if (type === 'error' || type === 'response.failed')
      return [
        {
          type: 'error',
          message: message ?? response?.error?.message ?? 'The stream ended before the answer was complete.',
        },
      ];
    if (type === 'response.output_text.delta' || type === 'response.refusal.delta')
      return [{ type: 'text', text: delta }];
    if (type === 'response.reasoning_summary_text.delta' || type === 'response.reasoning_text.delta')
      return [{ type: 'reasoning', text: delta }];
    if (type === 'response.output_item.added' && item?.type === 'function_call')
      return [{ type: 'tool', id: item.call_id ?? '', name: item.name ?? '', input: '' }];
    return type === 'response.function_call_arguments.delta' ? [{ type: 'tool', input: delta }] : [];
  },
};

function itemsOf(entry: Entry): readonly object[] {
  if (entry.role === 'tool')
    return entry.callIds.map((id) => ({ type: 'function_call_output', call_id: id, output: entry.text }));
  if (entry.role === 'assistant')
    return [
      ...(entry.text === '' ? [] : [{ role: 'assistant', content: entry.text }]),
      ...entry.toolCalls.map(({ id, name, input }) => ({ type: 'function_call', call_id: id, name, arguments: input })),
    ];
  if (entry.images.length === 0) return [{ role: 'user', content: entry.text }];
  const images = entry.images.map((url) => ({ type: 'input_image', image_url: url }));
  return [{ role: 'user', content: [...textPartOf(entry, 'input_text'), ...images] }];
}
