/** Reads a stream of the messages wire as a strict client would, and reports what is wrong with it. */

type Fields = Record<string, unknown>;

interface Frame {
  readonly event: string | null;
  readonly data: Fields;
}

export function framesOf(text: string): Frame[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.trim() !== '')
    .map((frame) => {
      const lines = frame.split('\n');
      const event = lines.find((line) => line.startsWith('event: '))?.slice('event: '.length) ?? null;
      const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length));
      return { event, data: JSON.parse(data.join('\n')) as Fields };
    });
}

const DELTAS_OF: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
};

const USAGE_COUNTS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens', 'output_tokens'];

/** Facts A5 to A22 of the wire, each as a sentence where it does not hold. */
export function streamFaults(text: string, requestId: string, model: string): string[] {
  const reader = new StrictReader();
  for (const { event, data } of framesOf(text)) {
    if (event !== data.type) reader.fault(`the event ${event} has the type ${String(data.type)}`);
    reader.read(data);
  }
  reader.end(requestId, model);
  return reader.faults;
}

class StrictReader {
  readonly faults: string[] = [];
  #state: 'before' | 'between' | 'inside' | 'ended' | 'stopped' | 'receipted' = 'before';
  #next = 0;
  #block: Fields = {};
  #signatures = 0;
  #message: Fields = {};
  #receipt: Fields = {};

  fault(words: string): void {
    this.faults.push(words);
  }

  read(data: Fields): void {
    switch (data.type) {
      case 'message_start':
        this.#start(data.message as Fields);
        break;
      case 'content_block_start':
        this.#blockStart(data);
        break;
      case 'content_block_delta':
        this.#delta(data);
        break;
      case 'content_block_stop':
        this.#expect('inside', data);
        if (data.index !== this.#next - 1) this.fault('a block ends under another number');
        if (this.#block.type === 'thinking' && this.#signatures > 1) this.fault('a signature comes in pieces');
        this.#state = 'between';
        break;
      case 'message_delta':
        this.#messageDelta(data);
        break;
      case 'message_stop':
        this.#expect('ended', data);
        this.#state = 'stopped';
        break;
      case 'gateway_receipt':
        this.#expect('stopped', data);
        this.#receipt = data;
        this.#state = 'receipted';
        break;
      default:
        if (this.#state === 'stopped' || this.#state === 'before')
          this.fault(`${String(data.type)} comes ${this.#state}`);
    }
  }

  end(requestId: string, model: string): void {
    if (this.#state !== 'receipted') this.fault(`the stream ends ${this.#state}`);
    if (this.#message.model !== model) this.fault(`the model is ${String(this.#message.model)}`);
    if (this.#receipt.request_id !== requestId) this.fault('the receipt is of another request');
    if (this.#receipt.model !== model) this.fault('the receipt is of another model');
    for (const name of ['cost_nanousd', 'components', 'usage']) {
      if (this.#receipt[name] === undefined) this.fault(`the receipt has no ${name}`);
    }
  }

  #expect(state: string, data: Fields): void {
    if (this.#state !== state) this.fault(`${String(data.type)} comes ${this.#state}`);
  }

  #start(message: Fields): void {
    this.#expect('before', { type: 'message_start' });
    this.#state = 'between';
    this.#message = message;
    const members = ['id', 'container', 'diagnostics', 'stop_details', 'stop_sequence', 'usage'];
    for (const name of members) if (message[name] === undefined) this.fault(`the message has no ${name}`);
    if (message.id === '' || message.role !== 'assistant' || message.type !== 'message') this.fault('no whole message');
    if (!Array.isArray(message.content) || message.content.length > 0) this.fault('the message begins with content');
    if (message.stop_reason !== null) this.fault('the message begins with its end');
    const usage = message.usage as Fields;
    const details = [
      'cache_creation',
      'inference_geo',
      'output_tokens_details',
      'server_tool_use',
      'service_tier',
      'speed',
    ];
    for (const name of [...USAGE_COUNTS, ...details]) if (usage[name] === undefined) this.fault(`no usage.${name}`);
    if (usage.cost !== undefined) this.fault('the host’s bill is shown');
  }

  #blockStart(data: Fields): void {
    this.#expect('between', data);
    this.#state = 'inside';
    if (data.index !== this.#next) this.fault(`a block has the number ${String(data.index)}`);
    this.#next++;
    this.#signatures = 0;
    this.#block = data.content_block as Fields;
    const { type, id, input, thinking, signature } = this.#block;
    if (type === 'thinking' && (thinking !== '' || signature !== ''))
      this.fault('a block of reasoning begins with text or a signature');
    if (type !== 'tool_use') return;
    if (typeof id !== 'string' || id === '') this.fault('a tool call has no id');
    if (JSON.stringify(input) !== '{}') this.fault('a tool call begins with input');
  }

  #delta(data: Fields): void {
    this.#expect('inside', data);
    if (data.index !== this.#next - 1) this.fault('a delta is for another block');
    const kinds = DELTAS_OF[String(this.#block.type)] ?? [];
    const type = String((data.delta as Fields).type);
    if (!kinds.includes(type)) this.fault(`${type} in a block of ${String(this.#block.type)}`);
    if (type === 'signature_delta') this.#signatures++;
    else if (this.#signatures > 0) this.fault('words follow the signature');
  }

  #messageDelta(data: Fields): void {
    this.#expect('between', data);
    this.#state = 'ended';
    const { delta, usage } = data as { delta: Fields; usage: Fields };
    if (typeof delta.stop_reason !== 'string') this.fault('no reason to stop');
    for (const name of ['stop_sequence', 'stop_details', 'container']) {
      if (delta[name] === undefined) this.fault(`the end has no ${name}`);
    }
    for (const name of USAGE_COUNTS) if (!Number.isInteger(usage[name])) this.fault(`usage.${name} is no count`);
    if (Object.keys(usage).some((name) => /^cost/.test(name))) this.fault('a cost is in the usage of the stream');
  }
}
