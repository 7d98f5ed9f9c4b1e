import type { Block, CanonicalMessage } from '../../canonical/request.ts';

/**
 * Gives every tool call of a conversation an id of its own, and its result the same one. Some hosts of other wires
 * use the same ids in every turn, and hosts of this wire refuse an id that comes twice.
 */
export function withUniqueCalls(messages: readonly CanonicalMessage[]): readonly CanonicalMessage[] {
  const ids = new FreeIds();
  /** The ids that calls have now, in their order, by the ids they had. */
  const renamed = new Map<string, Renamed>();
  const rename = (block: Block): Block => {
    if (block.kind === 'tool-result') return { ...block, callId: nextId(renamed.get(block.callId)) ?? block.callId };
    if (block.kind !== 'tool-call') return block;
    const id = ids.take(block.id);
    const calls = renamed.get(block.id);
    if (calls === undefined) renamed.set(block.id, { ids: [id], results: 0 });
    else calls.ids.push(id);
    return { ...block, id };
  };
  return hasRepeatedId(messages)
    ? messages.map(({ role, blocks }) => ({ role, blocks: blocks.map(rename) }))
    : messages;
}

interface Renamed {
  readonly ids: string[];
  /** How many of these calls have got their results. */
  results: number;
}

/** Results follow in the order of their calls. */
function nextId(calls: Renamed | undefined): string | undefined {
  return calls?.ids[calls.results++];
}

function hasRepeatedId(messages: readonly CanonicalMessage[]): boolean {
  const ids = messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.kind === 'tool-call' ? [block.id] : [])),
  );
  return new Set(ids).size < ids.length;
}

/** Ids depend only on the turns before, so that a longer conversation begins with the same bytes and is found in the host's cache. */
class FreeIds {
  readonly #taken = new Set<string>();
  /** The number that each repeated id has got last, so that many repetitions are not counted from the start. */
  readonly #numbers = new Map<string, number>();

  take(id: string): string {
    let free = id;
    while (this.#taken.has(free)) {
      const number = (this.#numbers.get(id) ?? 1) + 1;
      this.#numbers.set(id, number);
      free = `${id}_${number}`;
    }
    this.#taken.add(free);
    return free;
  }
}
