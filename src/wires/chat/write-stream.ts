import type { BlockHead, CanonicalEvent, FinishReason } from '../../canonical/events.ts';
import type { OpaqueReasoning } from '../../canonical/request.ts';
import type { Bill } from '../bill.ts';
import { InputUnwrapper } from '../fields/custom-input.ts';
import type { StreamWriter, WriteTerms } from '../hub.ts';
import { writePromptUsage } from '../usage/prompt-usage.ts';
import { customNames } from './custom-tools.ts';
import { opaqueDetail, textDetail } from './reasoning-details.ts';

/** Writes events as chunks of this wire: one choice, the role first, reasoning under both names, tool calls by index. */
class ChatStreamWriter implements StreamWriter {
  readonly #terms: WriteTerms;
  #head = '';
  /** The first chunk waits for the next event: a response that a content filter withheld has no content. */
  #isOpening = false;
  #block: BlockHead['kind'] = 'text';
  #calls = 0;
  /** The last call has no arguments so far. */
  #isCallEmpty = false;
  #traces = 0;
  /** The reasoning of the current block has text. */
  #hasTraceText = false;
  readonly #customs: ReadonlySet<unknown>;
  /** For the open call of a custom tool, which hosts of other wires call as a function. */
  #unwrapper: InputUnwrapper | null = null;

  constructor(terms: WriteTerms) {
    this.#terms = terms;
    this.#customs = customNames(terms.request);
  }

  event(event: CanonicalEvent): string {
    switch (event.kind) {
      case 'start':
        this.#head = this.#headText(event.createdS ?? this.#terms.createdS);
        this.#isOpening = true;
        return '';
      case 'block-start':
        return this.#open('""') + this.#fillCall() + this.#begin(event.block);
      case 'block-delta':
        return this.#unwrapper === null
          ? this.#chunk(this.#deltaText(event.text))
          : this.#input(this.#unwrapper.add(event.text));
      case 'block-end':
        return this.#end(event.opaque);
      case 'finish':
        return this.#finish(event.reason);
      default:
        return '';
    }
  }

  closing({ usage }: Bill): string {
    const last = this.#terms.wantsUsageFrame
      ? `${this.#head}"choices":[],"usage":${JSON.stringify(writePromptUsage(usage, null))}}\n\n`
      : '';
    return `${last}data: [DONE]\n\n`;
  }

  #open(content: string): string {
    if (!this.#isOpening) return '';
    this.#isOpening = false;
    return this.#chunk(`{"role":"assistant","content":${content},"refusal":null}`);
  }

  #finish(reason: FinishReason): string {
    // The output limit may have cut off the arguments, and then they are not completed.
    const filled = reason === 'length' ? '' : this.#fillCall();
    return this.#open(reason === 'content_filter' ? 'null' : '""') + filled + this.#chunk('{}', reason);
  }

  /** Clients parse the arguments, and an empty string is not JSON. */
  #fillCall(): string {
    if (!this.#isCallEmpty) return '';
    this.#isCallEmpty = false;
    return this.#chunk(this.#argumentsText('"{}"'));
  }

  #headText(createdS: number): string {
    const { catalogModel, requestId } = this.#terms;
    return `data: {"id":"chatcmpl-${requestId}","object":"chat.completion.chunk","created":${createdS},"model":${JSON.stringify(catalogModel)},`;
  }

  #chunk(delta: string, finish: string | null = null): string {
    return `${this.#head}"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finish === null ? 'null' : `"${finish}"`}}]}\n\n`;
  }

  #begin(block: BlockHead): string {
    this.#block = block.kind;
    if (block.kind === 'reasoning') this.#traces++;
    this.#hasTraceText = false;
    if (block.kind !== 'tool-call') return '';
    const { id, name } = block;
    const isCustom = this.#customs.has(name);
    this.#isCallEmpty = !isCustom;
    if (isCustom) this.#unwrapper = new InputUnwrapper();
    const called = isCustom
      ? { type: 'custom', custom: { name, input: '' } }
      : { type: 'function', function: { name, arguments: '' } };
    return this.#chunk(JSON.stringify({ tool_calls: [{ index: this.#calls++, id, ...called }] }));
  }

  #input(text: string): string {
    if (text === '') return '';
    return this.#chunk(`{"tool_calls":[{"index":${this.#calls - 1},"custom":{"input":${JSON.stringify(text)}}}]}`);
  }

  #end(opaque: OpaqueReasoning | null): string {
    const rest = this.#unwrapper === null ? '' : this.#input(this.#unwrapper.end());
    this.#unwrapper = null;
    if (opaque === null) return rest;
    const detail = opaqueDetail(opaque, this.#traces - 1, this.#hasTraceText);
    return rest + this.#chunk(JSON.stringify({ reasoning_details: [detail] }));
  }

  #deltaText(text: string): string {
    const quoted = JSON.stringify(text);
    switch (this.#block) {
      case 'text':
        return `{"content":${quoted}}`;
      case 'refusal':
        return `{"refusal":${quoted}}`;
      case 'reasoning':
        this.#hasTraceText = true;
        return `{"reasoning":${quoted},"reasoning_content":${quoted},"reasoning_details":[${JSON.stringify(textDetail(text, this.#traces - 1))}]}`;
      case 'tool-call':
        this.#isCallEmpty = false;
        return this.#argumentsText(quoted);
    }
  }

  #argumentsText(quoted: string): string {
    return `{"tool_calls":[{"index":${this.#calls - 1},"function":{"arguments":${quoted}}}]}`;
  }
}

export function writeStream(terms: WriteTerms): StreamWriter {
  return new ChatStreamWriter(terms);
}
