import type { AnswerOutcome, AnswerReading, ConnectionReading, ReadRequest } from './reading.ts';

/** The result of reading the same bytes twice; undecided where the bytes end before we have to accept or refuse. */
export type Verdict =
  | { readonly kind: 'agreed' | 'neither' | 'undecided' }
  /** One reader accepted what the other refused, for this reason. */
  | { readonly kind: 'only-node' | 'only-ours'; readonly refusal: string; readonly accepted: Accepted }
  | { readonly kind: 'disagreement'; readonly what: string };

/** What only one reader accepted; for an answer the method is empty. */
export interface Accepted {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly rawHeaders: readonly string[];
}

/** Compares the requests in turn, up to the first that one of the readers refuses. */
export function compareRequests(ours: ConnectionReading, node: ConnectionReading): Verdict {
  for (let at = 0; ; at++) {
    const our = ours.requests[at];
    const their = node.requests[at];
    if (our === undefined && their === undefined) return { kind: at > 0 ? 'agreed' : 'neither' };
    if (our === undefined) return onlyNode(ours.refusal, their!, 'we wait for more of a head that Node has read');
    if (their === undefined) return onlyOurs(node.refusal, our, 'Node waits for more of a head that we have read');
    const difference = headDifference(our, their);
    if (difference !== null) return { kind: 'disagreement', what: difference };
    const verdict = compareBodies({ our, their, ours, node });
    if (verdict !== null) return verdict;
  }
}

function headDifference(our: ReadRequest, their: ReadRequest): string | null {
  if (our.method !== their.method) return `method ${show(our.method)}, Node ${show(their.method)}`;
  if (our.target !== their.target) return `target ${show(our.target)}, Node ${show(their.target)}`;
  if (our.version !== their.version) return `version ${our.version}, Node ${their.version}`;
  const [a, b] = [JSON.stringify(our.rawHeaders), JSON.stringify(their.rawHeaders)];
  return a === b ? null : `headers ${a}, Node ${b}`;
}

interface Both {
  readonly our: ReadRequest;
  readonly their: ReadRequest;
  readonly ours: ConnectionReading;
  readonly node: ConnectionReading;
}

/** Null if both bodies are whole and equal. */
function compareBodies({ our, their, ours, node }: Both): Verdict | null {
  if (our.wholeAt !== null && their.wholeAt !== null) {
    if (!our.body.equals(their.body)) return bodyDifference(our.body, their.body);
    if (our.wholeAt === their.wholeAt) return null;
    return { kind: 'disagreement', what: `the body ends with piece ${our.wholeAt}, for Node with ${their.wholeAt}` };
  }
  if (our.wholeAt !== null) return onlyOurs(node.refusal, our, 'Node waits for more of a body that we take for whole');
  if (their.wholeAt !== null) {
    return onlyNode(ours.refusal, their, 'we wait for more of a body that Node takes for whole');
  }
  if (ours.refusal !== null && node.refusal !== null) return { kind: 'agreed' };
  if (ours.refusal !== null) return { kind: 'only-node', refusal: ours.refusal, accepted: their };
  // Node refuses a line at its first wrong byte, we refuse some at their end; the bytes ran out before that.
  if (node.refusal !== null) return { kind: 'undecided' };
  return our.body.equals(their.body) ? { kind: 'agreed' } : bodyDifference(our.body, their.body);
}

export function compareAnswers(ours: AnswerOutcome, node: AnswerOutcome): Verdict {
  const our = ours.answer;
  const their = node.answer;
  if (our !== null && their !== null) {
    const difference = answerHeadDifference(our, their);
    if (difference !== null) return { kind: 'disagreement', what: difference };
  }
  const isOurs = our !== null && our.wholeAt !== null;
  const isTheirs = their !== null && their.wholeAt !== null;
  if (isOurs && isTheirs) return compareWholeAnswers(our, their);
  if (isOurs) return { kind: 'only-ours', refusal: node.refusal ?? 'never whole', accepted: asAccepted(our) };
  if (isTheirs) return { kind: 'only-node', refusal: ours.refusal ?? 'never whole', accepted: asAccepted(their) };
  return { kind: 'neither' };
}

function answerHeadDifference(our: AnswerReading, their: AnswerReading): string | null {
  if (our.status !== their.status) return `status ${our.status}, Node ${their.status}`;
  const [a, b] = [JSON.stringify(our.headers), JSON.stringify(their.headers)];
  return a === b ? null : `headers ${a}, Node ${b}`;
}

function compareWholeAnswers(our: AnswerReading, their: AnswerReading): Verdict {
  if (!our.body.equals(their.body)) return bodyDifference(our.body, their.body);
  if (our.wholeAt !== their.wholeAt) {
    return { kind: 'disagreement', what: `the body ends with piece ${our.wholeAt}, for Node with ${their.wholeAt}` };
  }
  if (our.keepsConnection && !their.keepsConnection) {
    return { kind: 'disagreement', what: 'we keep a connection that Node closes' };
  }
  return { kind: 'agreed' };
}

/**
 * What a reader made of one connection must not depend on how its bytes were cut. A request whose body is refused counts
 * as refused, whether or not its head was handed on before.
 */
export function sameRequests(one: ConnectionReading, other: ConnectionReading): boolean {
  return JSON.stringify(withoutCuts(one)) === JSON.stringify(withoutCuts(other));
}

function withoutCuts({ requests, refusal }: ConnectionReading): unknown {
  const accepted = requests.filter(({ wholeAt }) => wholeAt !== null || refusal === null);
  return [accepted.map((each) => ({ ...each, wholeAt: each.wholeAt !== null })), refusal !== null];
}

export function sameAnswer(one: AnswerOutcome, other: AnswerOutcome): boolean {
  return JSON.stringify(answerWithoutCuts(one)) === JSON.stringify(answerWithoutCuts(other));
}

/** Whether the connection is kept depends on whether more came in the same piece. */
function answerWithoutCuts({ answer, refusal }: AnswerOutcome): unknown {
  const { wholeAt = null, ...rest } = answer ?? {};
  return [{ ...rest, keepsConnection: null }, typeof wholeAt === 'number' ? 'whole' : wholeAt, refusal];
}

function onlyNode(refusal: string | null, accepted: ReadRequest, what: string): Verdict {
  return refusal === null ? { kind: 'disagreement', what } : { kind: 'only-node', refusal, accepted };
}

function onlyOurs(refusal: string | null, accepted: ReadRequest, what: string): Verdict {
  return refusal === null ? { kind: 'disagreement', what } : { kind: 'only-ours', refusal, accepted };
}

function asAccepted({ status, headers }: AnswerReading): Accepted {
  return { method: '', target: String(status), version: '', rawHeaders: headers.flat() };
}

function bodyDifference(our: Buffer, their: Buffer): Verdict {
  const what = `body ${show(our.toString('latin1'))}, Node ${show(their.toString('latin1'))}`;
  return { kind: 'disagreement', what };
}

function show(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
