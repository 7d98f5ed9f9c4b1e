import { withoutByteOrderMark } from '../../kit/byte-order-mark.ts';
import { Pieces } from '../../kit/pieces.ts';
import { LIMITS } from '../../limits.ts';
import type { ResponseRoom } from '../guards/response-room.ts';
import { HOST_FAILED, type HostFault, noRoomFault } from './attempt.ts';

/** The body of a response that is read to its end before it is used. */
export class WholeBody {
  readonly #room: ResponseRoom;
  readonly #pieces = new Pieces();
  #bytes = 0;

  constructor(room: ResponseRoom) {
    this.#room = room;
  }

  /** Returns why the response must be given up; null if it may go on. */
  add(chunks: readonly Buffer[]): HostFault | null {
    for (const chunk of chunks) {
      this.#bytes += chunk.length;
      this.#pieces.add(chunk);
    }
    if (this.#bytes > LIMITS.responseBodyBytesMax)
      return { words: 'The response of the host exceeds the size limit.', retryable: true, sign: HOST_FAILED };
    return this.#room.keep(this.#bytes) ? null : noRoomFault();
  }

  join(): Buffer {
    const { all } = this.#pieces;
    return withoutByteOrderMark(all.length === 1 ? all[0]! : Buffer.concat(all));
  }
}
