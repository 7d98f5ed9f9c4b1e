/** What a connection is doing: `idle` between requests and during a head, `receiving` a body, or `working` on an answer. */
export type SeatState = 'idle' | 'receiving' | 'working';

/** A connection's place in the room. It is its own list node, so that changing its state allocates nothing. */
export class Seat {
  /** Closes the connection at once. */
  readonly close: () => void;
  queue: SeatQueue | null = null;
  older: Seat | null = null;
  newer: Seat | null = null;
  isTaken = true;

  constructor(close: () => void) {
    this.close = close;
  }
}

/** Seats in the order in which they entered this state. */
class SeatQueue {
  oldest: Seat | null = null;
  #newest: Seat | null = null;

  add(seat: Seat): void {
    seat.queue = this;
    seat.older = this.#newest;
    if (this.#newest === null) this.oldest = seat;
    else this.#newest.newer = seat;
    this.#newest = seat;
  }

  remove(seat: Seat): void {
    if (seat.older === null) this.oldest = seat.newer;
    else seat.older.newer = seat.newer;
    if (seat.newer === null) this.#newest = seat.older;
    else seat.newer.older = seat.older;
    seat.queue = null;
    seat.older = null;
    seat.newer = null;
  }
}

/**
 * Bounds the open connections of a server, so that they cannot use up the process's file descriptors. A connection
 * beyond the maximum takes the place of the oldest idle one, or else of the one whose body has been arriving for longest;
 * if all are working on an answer, the new one is closed.
 */
export class ConnectionRoom {
  readonly #max: number;
  readonly #idle = new SeatQueue();
  readonly #receiving = new SeatQueue();
  #taken = 0;
  #closed = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Open connections. */
  get taken(): number {
    return this.#taken;
  }

  /** Connections that were closed because there were too many. */
  get closed(): number {
    return this.#closed;
  }

  /** A seat for an accepted connection, idle at first; null if the connection has to be closed. */
  take(close: () => void): Seat | null {
    if (this.#taken >= this.#max) {
      const oldest = this.#idle.oldest ?? this.#receiving.oldest;
      this.#closed++;
      if (oldest === null) return null;
      this.leave(oldest);
      oldest.close();
    }
    const seat = new Seat(close);
    this.#taken++;
    this.#idle.add(seat);
    return seat;
  }

  /** Moves the seat to the end of its new state's queue. */
  enter(state: SeatState, seat: Seat): void {
    if (!seat.isTaken) return;
    seat.queue?.remove(seat);
    if (state === 'idle') this.#idle.add(seat);
    else if (state === 'receiving') this.#receiving.add(seat);
  }

  /** May be called twice: when the connection is told to close, and when it has closed. */
  leave(seat: Seat): void {
    if (!seat.isTaken) return;
    seat.isTaken = false;
    seat.queue?.remove(seat);
    this.#taken--;
  }
}
