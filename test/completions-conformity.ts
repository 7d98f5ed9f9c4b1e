/** What a stream of completions must look like to every client, checked without any code of the wire it comes from. */

type Fields = Record<string, unknown>;

interface CompletionsTerms {
  readonly model: string;
  readonly wantsUsage: boolean;
}

/** Every way in which a complete stream violates the wire's rules; empty if it conforms. */
export function completionFaults(stream: string, { model, wantsUsage }: CompletionsTerms): string[] {
  const faults: string[] = [];
  const check = (holds: boolean, fault: string): void => {
    if (!holds) faults.push(fault);
  };
  const events = stream.split('\n\n').filter((event) => event !== '');
  check(events.at(-1) === 'data: [DONE]', `ends in ${events.at(-1)}`);
  const finishes = new Map<unknown, number>();
  const identities = new Set<string>();
  let usageFrames = 0;
  for (const event of events.slice(0, -1)) {
    const chunk = JSON.parse(event.replace(/^data: /, '')) as Fields;
    const choices = chunk.choices as Fields[];
    identities.add(JSON.stringify([chunk.id, chunk.created]));
    check(chunk.object === 'text_completion', `has object ${String(chunk.object)}`);
    check(chunk.model === model, `has model ${String(chunk.model)}`);
    check(typeof chunk.id === 'string' && chunk.id !== '', 'has no id');
    check(Number.isSafeInteger(chunk.created) && (chunk.created as number) > 0, 'has no creation time');
    check(!('provider' in chunk), 'names a host');
    if (choices.length === 0) usageFrames++;
    else check(chunk.usage === (wantsUsage ? null : undefined), `has usage ${JSON.stringify(chunk.usage)} on words`);
    for (const { index, text, logprobs, finish_reason: reason } of choices) {
      check(Number.isSafeInteger(index), `has index ${String(index)}`);
      check(typeof text === 'string', `has text ${String(text)}`);
      check(logprobs !== undefined && reason !== undefined, 'lacks a member of a choice');
      finishes.set(index, (finishes.get(index) ?? 0) + (reason === null ? 0 : 1));
      check(
        reason === null || ['stop', 'length', 'content_filter'].includes(reason as string),
        `finishes by ${reason}`,
      );
    }
  }
  check(identities.size === 1, `has ${identities.size} identities`);
  check(usageFrames === (wantsUsage ? 1 : 0), `has ${usageFrames} usage frames`);
  check(finishes.size > 0, 'has no answer');
  for (const [index, count] of finishes) check(count === 1, `answer ${String(index)} finishes ${count} times`);
  return faults;
}

/** The text of each choice of a stream, by its index. */
export function textsOf(stream: string): Record<string, string> {
  const texts: Record<string, string> = {};
  // Split by line feeds alone: to a regular expression U+2028 ends a line too, in a stream it does not.
  const lines = stream.split('\n').filter((line) => line.startsWith('data: {'));
  for (const line of lines) {
    for (const { index = 0, text } of (JSON.parse(line.slice('data: '.length)) as { choices?: Fields[] }).choices ??
      []) {
      texts[String(index)] = (texts[String(index)] ?? '') + String(text ?? '');
    }
  }
  return texts;
}
