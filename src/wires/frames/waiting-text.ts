import { LIMITS } from '../../limits.ts';

/** Limits the text that waits in all parts of a response together: each part alone could hold as much as a response. */
export class WaitingRoom {
  #chars = 0;

  take(chars: number): void {
    this.#chars += chars;
    if (this.#chars > LIMITS.streamWordBytesMax) throw new RangeError("the host's response is too long");
  }
}

/** A string costs more memory than its few characters, so small pieces are joined. */
const PIECES_MAX = 1024;

/** Text that waits for its turn in a response, and arrives in pieces of any size. */
export class WaitingText {
  readonly #room: WaitingRoom;
  readonly #joined: string[] = [];
  #pieces: string[] = [];

  constructor(room: WaitingRoom) {
    this.#room = room;
  }

  add(piece: string): void {
    this.#room.take(piece.length);
    if (this.#pieces.push(piece) >= PIECES_MAX) this.#join();
  }

  /** The whole text, in few pieces. */
  pieces(): readonly string[] {
    if (this.#pieces.length > 0) this.#join();
    return this.#joined;
  }

  #join(): void {
    this.#joined.push(this.#pieces.join(''));
    this.#pieces = [];
  }
}
