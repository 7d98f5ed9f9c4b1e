import { type Count, LocalCount } from '../kit/counts.ts';

/**
 * What a connection is doing: `idle` between requests and during a head, `receiving` a body, `working` on an answer, or
 * `unread`: nothing is missing but a client that reads the rest of its answer.
 */
type ConnectionState = 'idle' | 'receiving' | 'working' | 'unread';

/** A connection's place in the queues. It is its own list node, so that changing its state allocates nothing. */
export class ConnectionSlot {
  /** Closes the connection at once. */
  readonly close: () => void;
  queue: SlotQueue | null = null;
  older: ConnectionSlot | null = null;
  newer: ConnectionSlot | null = null;
  isTaken = true;

  constructor(close: () => void) {
    this.close = close;
  }
}

/** Slots in the order in which they entered this state. */
class SlotQueue {
  oldest: ConnectionSlot | null = null;
  #newest: ConnectionSlot | null = null;

  add(slot: ConnectionSlot): void {
    slot.queue = this;
    slot.older = this.#newest;
    if (this.#newest === null) this.oldest = slot;
    else this.#newest.newer = slot;
    this.#newest = slot;
  }

  remove(slot: ConnectionSlot): void {
    if (slot.older === null) this.oldest = slot.newer;
    else slot.older.newer = slot.newer;
    if (slot.newer === null) this.#newest = slot.older;
    else slot.newer.older = slot.older;
    slot.queue = null;
    slot.older = null;
    slot.newer = null;
  }
}

/**
 * Bounds the open connections of a server, so that they cannot use up the process's file descriptors. A connection
 * beyond the maximum takes the place of the oldest idle one, or else of the one whose body has been arriving for longest,
 * or else of the one whose answer has been unread for longest; if all are working on an answer, the new one is closed.
 */
export class ConnectionLimit {
  readonly #max: number;
  readonly #idle = new SlotQueue();
  readonly #receiving = new SlotQueue();
  readonly #unread = new SlotQueue();
  readonly #taken: Count;
  #closed = 0;

  /** `taken` counts the connections that share the maximum, including those of other threads. */
  constructor(max: number, taken: Count = new LocalCount()) {
    this.#max = max;
    this.#taken = taken;
  }

  /** Open connections. */
  get taken(): number {
    return this.#taken.value;
  }

  /** Connections that were closed because there were too many. */
  get closed(): number {
    return this.#closed;
  }

  /** A slot for an accepted connection, idle at first; null if the connection has to be closed. */
  take(close: () => void): ConnectionSlot | null {
    if (this.#taken.value >= this.#max) {
      const oldest = this.#idle.oldest ?? this.#receiving.oldest ?? this.#unread.oldest;
      this.#closed++;
      if (oldest === null) return null;
      this.leave(oldest);
      oldest.close();
    }
    const slot = new ConnectionSlot(close);
    this.#taken.add(1);
    this.#idle.add(slot);
    return slot;
  }

  /** Moves the slot to the end of its new state's queue. */
  enter(state: ConnectionState, slot: ConnectionSlot): void {
    if (!slot.isTaken) return;
    slot.queue?.remove(slot);
    if (state === 'idle') this.#idle.add(slot);
    else if (state === 'receiving') this.#receiving.add(slot);
    else if (state === 'unread') this.#unread.add(slot);
  }

  /** May be called twice: when the connection is told to close, and when it has closed. */
  leave(slot: ConnectionSlot): void {
    if (!slot.isTaken) return;
    slot.isTaken = false;
    slot.queue?.remove(slot);
    this.#taken.add(-1);
  }
}
