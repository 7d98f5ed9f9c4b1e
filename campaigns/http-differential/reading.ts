/** What a parser made of the bytes of one connection, in a form that two parsers can be compared by. */

/** The bytes of one connection, cut as they arrive. */
export type Pieces = readonly Buffer[];

export interface ReadRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  /** The piece with which the request was whole; null if it never was. */
  readonly wholeAt: number | null;
}

export interface ConnectionReading {
  readonly requests: readonly ReadRequest[];
  /** Why nothing more is read from the connection; null if it is still open. */
  readonly refusal: string | null;
}

export interface AnswerReading {
  readonly status: number;
  /** Lower-case names, sorted; repeated values joined by commas in the order they came. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The piece with which the answer was whole, or 'close' if the end of the connection ended it; null if it never was. */
  readonly wholeAt: number | 'close' | null;
  /** The connection may carry another request. */
  readonly keepsConnection: boolean;
}

export interface AnswerOutcome {
  /** Null if no final head was accepted. */
  readonly answer: AnswerReading | null;
  readonly refusal: string | null;
}

/** Reads many connections at once: a parser that works in turns of the event loop needs no more of them for many. */
export type RequestReader = (connections: readonly Pieces[]) => Promise<ConnectionReading[]>;
export type AnswerReader = (connections: readonly Pieces[]) => Promise<AnswerOutcome[]>;

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

export function byName(fields: [string, string][]): [string, string][] {
  return fields.toSorted(([a], [b]) => (a < b ? -1 : 1));
}
