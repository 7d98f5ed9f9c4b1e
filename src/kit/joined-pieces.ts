/** The smallest piece that is moved to a thread. Copying a smaller one costs less. */
const MOVED_BYTES_MIN = 16 * 1024;

/** The pieces that a large body was joined from, until they are taken or dropped. */
const piecesOf = new WeakMap<Buffer, readonly Buffer[]>();
/** First pieces of large bodies whose memory holds nothing else but the head of the same request. */
const behindHeads = new WeakSet<Buffer>();

/** Joins what arrived. Remembers the pieces of a large body, which can be moved to a thread without a copy. */
export function joinPieces(pieces: readonly Buffer[]): Buffer {
  if (pieces.length === 1) return pieces[0]!;
  const joined = Buffer.concat(pieces);
  const areLarge = joined.length >= pieces.length * MOVED_BYTES_MIN;
  if (areLarge && pieces.some(isMovable)) piecesOf.set(joined, pieces);
  return joined;
}

/** The pieces, once; null if there are none. The caller may move the memory of those that are movable. */
export function takePieces(joined: Buffer): readonly Buffer[] | null {
  const pieces = piecesOf.get(joined) ?? null;
  dropPieces(joined);
  return pieces;
}

/** For a body that lives longer than its pieces are of use: they take as much memory again. */
export function dropPieces(joined: Buffer): void {
  if (joined.length >= MOVED_BYTES_MIN) piecesOf.delete(joined);
}

/** Whether nobody else needs the memory of a piece: another request, which may still be running, could be in it too. */
export function isMovable(piece: Buffer): boolean {
  return fillsMemory(piece) || behindHeads.has(piece);
}

/** Splits a read at the end of a request's head; the rest is the first piece of a body of this length. */
export function pieceBehindHead(read: Buffer, start: number, bodyBytes: number): Buffer {
  const piece = read.subarray(start);
  if (bodyBytes > piece.length && piece.length >= MOVED_BYTES_MIN && fillsMemory(read)) behindHeads.add(piece);
  return piece;
}

function fillsMemory({ byteOffset, byteLength, buffer }: Buffer): boolean {
  return byteOffset === 0 && byteLength === buffer.byteLength;
}
