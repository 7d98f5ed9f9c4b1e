/** What a chat stream must look like to every client, checked without any code of the wire it comes from. */

type Fields = Record<string, unknown>;

interface StreamTerms {
  readonly model: string;
  readonly wantsUsage: boolean;
  /** `error` where an in-band error ends the stream. */
  readonly ended: 'complete' | 'error';
}

const INDEX_MAX = 127;
const MEMBERS_OF_HOSTS = ['x_groq', 'provider', 'prompt_filter_results'];
const CHOICE_MEMBERS_OF_HOSTS = ['native_finish_reason', 'content_filter_results'];
/** Members that are absent, not null, where there is nothing to say. */
const NEVER_NULL = ['tool_calls', 'annotations', 'function_call', 'reasoning', 'reasoning_content'];
const SERVICE_TIERS = [undefined, null, 'auto', 'default', 'flex', 'scale', 'priority'];

/** Every host-specific member in a buffered response; empty if there is none. */
export function answerFaults(answer: object): string[] {
  const { choices, usage, ...rest } = answer as Fields & { choices: Fields[] };
  return [
    ...faultsOfHost(rest),
    ...choices.flatMap((choice) => faultsOfChoice(choice, choice.message as Fields)),
    ...faultsOfUsage(usage as Fields),
  ];
}

function faultsOfHost(answer: Fields): string[] {
  const faults = MEMBERS_OF_HOSTS.filter((name) => name in answer).map((name) => `has ${name}`);
  if (!SERVICE_TIERS.includes(answer.service_tier as never)) faults.push(`has the tier ${answer.service_tier}`);
  if (String(answer.id).startsWith('gen-')) faults.push(`has the id ${answer.id}`);
  return faults;
}

function faultsOfChoice(choice: Fields, words: Fields): string[] {
  return [
    ...CHOICE_MEMBERS_OF_HOSTS.filter((name) => name in choice).map((name) => `has ${name}`),
    ...NEVER_NULL.filter((name) => words[name] === null).map((name) => `has null for ${name}`),
  ];
}

function faultsOfUsage(usage: Fields): string[] {
  const faults = ['prompt_tokens_details', 'completion_tokens_details'].filter((name) => usage[name] === null);
  const details = usage.prompt_tokens_details as Fields | null | undefined;
  const counts = isFields(details) ? [details.cached_tokens, details.cache_write_tokens] : [];
  if (!counts.every(Number.isSafeInteger)) faults.push('prompt_tokens_details without both cache counts');
  return faults.map((name) => `has in its usage ${name}`);
}

/** Every way in which the events of a stream (the data of each) violate the wire's rules; empty if they conform. */
export function streamFaults(events: readonly string[], terms: StreamTerms): string[] {
  return new Inspector(terms).inspect(events);
}

interface SeenChoice {
  finishes: number;
  readonly calls: { readonly id: string; names: number }[];
}

class Inspector {
  readonly #terms: StreamTerms;
  readonly #faults: string[] = [];
  readonly #choices = new Map<number, SeenChoice>();
  #identity: string | null = null;
  #usageFrames = 0;

  constructor(terms: StreamTerms) {
    this.#terms = terms;
  }

  inspect(events: readonly string[]): string[] {
    const { ended, wantsUsage } = this.#terms;
    const last = events.at(-1);
    const body = events.slice(0, -1);
    this.#expect(events.length > 0, 'is empty');
    this.#expect((last === '[DONE]') === (ended === 'complete'), `ends in ${last?.slice(0, 80)}`);
    if (ended === 'error') this.#expect(isFields(parse(last)?.error), 'does not end in an error');
    for (const event of body) this.#chunk(parse(event));
    if (ended === 'complete') {
      for (const [index, { finishes }] of this.#choices) this.#expect(finishes === 1, `choice ${index} has no finish`);
      this.#expect(this.#choices.size > 0, 'has no choice');
      this.#expect(this.#usageFrames === (wantsUsage ? 1 : 0), `has ${this.#usageFrames} usage frames`);
    }
    return this.#faults;
  }

  #chunk(chunk: Fields | null): void {
    if (chunk === null || !Array.isArray(chunk.choices)) {
      this.#faults.push('has an event that is not a chunk');
      return;
    }
    this.#expect(chunk.object === 'chat.completion.chunk', `has object ${String(chunk.object)}`);
    this.#expect(chunk.model === this.#terms.model, `has model ${String(chunk.model)}`);
    this.#expect(typeof chunk.id === 'string' && chunk.id !== '', 'has no id');
    this.#expect(Number.isSafeInteger(chunk.created) && (chunk.created as number) > 0, 'has no creation time');
    this.#identity ??= `${chunk.id} ${chunk.created}`;
    this.#expect(this.#identity === `${chunk.id} ${chunk.created}`, 'changes its id or time');
    this.#faults.push(...faultsOfHost(chunk));
    this.#expect(this.#usageFrames === 0, 'goes on after its usage frame');
    if (chunk.choices.length === 0) this.#usageFrame(chunk);
    else this.#expect(chunk.usage === undefined || chunk.usage === null, 'has usage beside choices');
    for (const choice of chunk.choices) this.#choice(choice);
  }

  #usageFrame(chunk: Fields): void {
    this.#usageFrames++;
    this.#expect(this.#terms.wantsUsage, 'has a usage frame that was not asked for');
    this.#expect(isFields(chunk.usage), 'has a chunk without choices and usage');
    this.#expect(!('cost' in ((chunk.usage as Fields) ?? {})), 'has a cost in its usage');
    if (isFields(chunk.usage)) this.#faults.push(...faultsOfUsage(chunk.usage));
  }

  #choice(choice: unknown): void {
    if (!isFields(choice) || !isFields(choice.delta) || !isIndex(choice.index)) {
      this.#faults.push(`has an invalid choice: ${JSON.stringify(choice)?.slice(0, 80)}`);
      return;
    }
    const { delta, finish_reason: finish, index } = choice;
    const isFirst = !this.#choices.has(index);
    const seen = this.#choices.get(index) ?? { finishes: 0, calls: [] };
    this.#choices.set(index, seen);
    this.#expect(!('message' in choice), 'has a message beside the delta');
    this.#faults.push(...faultsOfChoice(choice, delta));
    this.#expect(delta.role === 'assistant' || (!isFirst && delta.role === undefined), `has role ${delta.role}`);
    this.#texts(delta);
    this.#calls(delta.tool_calls, seen);
    this.#expect(finish === null || (typeof finish === 'string' && finish !== ''), `has finish reason ${finish}`);
    if (finish !== null) seen.finishes++;
    this.#expect(seen.finishes <= 1, `finishes choice ${index} twice`);
    this.#expect(finish !== 'stop' || seen.calls.length === 0, 'stops where it calls tools');
  }

  #texts(delta: Fields): void {
    for (const name of ['content', 'refusal', 'reasoning', 'reasoning_content']) {
      const text = delta[name];
      this.#expect(isNothing(text) || typeof text === 'string', `has ${name} that is not text`);
    }
    this.#expect(
      (delta.reasoning ?? '') === (delta.reasoning_content ?? ''),
      'has a trace under one of its names only',
    );
  }

  #calls(calls: unknown, { calls: seen }: SeenChoice): void {
    if (isNothing(calls)) return;
    this.#expect(Array.isArray(calls), 'has tool calls that are no list');
    for (const call of Array.isArray(calls) ? calls : []) {
      if (!isFields(call) || !isIndex(call.index)) this.#faults.push('has an invalid tool call');
      else if (call.index < seen.length) this.#laterFragment(call, seen[call.index]!);
      else this.#firstFragment(call, seen);
    }
  }

  #firstFragment(call: Fields, seen: SeenChoice['calls']): void {
    const kind = call.type === 'custom' ? 'custom' : 'function';
    const called = call[kind];
    this.#expect(call.index === seen.length, `skips to tool call ${call.index}`);
    this.#expect(typeof call.id === 'string' && call.id !== '', 'has a tool call without an id');
    this.#expect(!seen.some(({ id }) => id === call.id), 'gives two tool calls one id');
    this.#expect(call.type === 'function' || call.type === 'custom', `has tool type ${call.type}`);
    this.#expect(isFields(called) && typeof called.name === 'string', 'has a tool call without a name');
    const said = isFields(called) ? called[kind === 'custom' ? 'input' : 'arguments'] : undefined;
    this.#expect(typeof said === 'string', 'has a tool call without arguments');
    seen.push({ id: String(call.id), names: isFields(called) && called.name !== '' ? 1 : 0 });
  }

  #laterFragment(call: Fields, seen: SeenChoice['calls'][number]): void {
    this.#expect(call.id === undefined && call.type === undefined, 'repeats the identity of a tool call');
    const called = call.function ?? call.custom;
    if (!isFields(called)) return;
    if (called.name !== undefined) seen.names++;
    this.#expect(seen.names <= 1, 'repeats the name of a tool call');
    this.#expect(
      called.arguments === undefined || typeof called.arguments === 'string',
      'has arguments that are no text',
    );
  }

  #expect(holds: boolean, fault: string): void {
    if (!holds) this.#faults.push(fault);
  }
}

function parse(text: string | undefined): Fields | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

function isIndex(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= INDEX_MAX;
}
