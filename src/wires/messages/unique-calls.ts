import type { Block, CanonicalMessage } from '../../canonical/request.ts';

/**
 * Gives every tool call of a conversation an id of its own, and its result the same one. Some hosts of other wires
 * use the same ids in every turn, and hosts of this wire refuse an id that comes twice.
 */
export function withUniqueCalls(messages: readonly CanonicalMessage[]): readonly CanonicalMessage[] {
  if (!hasRepeatedId(messages)) return messages;
  const ids = new FreeIds();
  const renamed = new Map<string, Renamed>();
  let turn = 0;
  const rename = (block: Block): Block => {
    if (block.kind === 'tool-result') return { ...block, callId: nextId(renamed.get(block.callId)) ?? block.callId };
    if (block.kind !== 'tool-call') return block;
    const id = ids.take(block.id);
    const calls = renamed.get(block.id);
    if (calls?.turn === turn) calls.ids.push(id);
    else renamed.set(block.id, { turn, ids: [id], results: 0 });
    return { ...block, id };
  };
  return messages.map(({ role, blocks }) => {
    if (role === 'user') turn += 1;
    return { role, blocks: blocks.map(rename) };
  });
}

/** The calls with one id, of the last turn that has any. Results belong to them, even if earlier calls with this id got none. */
interface Renamed {
  readonly turn: number;
  /** The ids that the calls have now, in their order. */
  readonly ids: string[];
  /** How many results have come. */
  results: number;
}

/** Results follow in the order of their calls; those beyond them belong to the last call. */
function nextId(calls: Renamed | undefined): string | undefined {
  return calls?.ids[Math.min(calls.results++, calls.ids.length - 1)];
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
