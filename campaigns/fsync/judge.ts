import type { SystemCall } from './trace.ts';

interface Judged {
  /** The word that identifies the call in the trace. */
  readonly word: string;
  readonly stream: boolean;
  readonly hostPort: number;
}

interface Step {
  readonly what: string;
  readonly call: SystemCall;
}

interface Judgement {
  /** What was found, in order of time. */
  readonly steps: readonly Step[];
  /** What was not found in its place; null if everything was. */
  readonly missing: string | null;
}

const WRITES = ['write', 'writev', 'sendto', 'sendmsg'];
const SYNCS = ['fdatasync', 'fsync'];

/**
 * From the client's request to its last byte: the hold must be written and synced before the first byte to the host, the
 * settlement between the host's terminal frame and the client's. Only a sync that ended before the next step began counts.
 */
export function judgeCall(trace: readonly SystemCall[], { word, stream, hostPort }: Judged): Judgement {
  const isHost = ({ target }: SystemCall) => target.endsWith(`->127.0.0.1:${hostPort}]`);
  const steps: Step[] = [];
  const note = (what: string, call: SystemCall | undefined): SystemCall => {
    if (call === undefined) throw new NotFound(what);
    steps.push({ what, call });
    return call;
  };
  try {
    const asked = note(
      "the client's request arrives",
      trace.find((call) => isRead(call) && call.text.includes(word)),
    );
    const since = trace.filter((call) => call.began > asked.ended);
    const isTerminal = (call: SystemCall) =>
      isWrite(call) && call.target === asked.target && (!stream || call.text.includes('[DONE]'));
    const sent = note(
      'the first byte to the host',
      since.find((call) => isWrite(call) && isHost(call)),
    );
    const told = note("the client's last byte", since.find(isTerminal));
    const answered = note(
      "the host's terminal frame arrives",
      since.findLast((call) => call.ended < told.began && isRead(call) && isHost(call)),
    );
    noteSync(since, asked, sent, (what, call) => note(`the hold is ${what}`, call));
    noteSync(since, answered, told, (what, call) => note(`the settlement is ${what}`, call));
    return { steps: inOrder(steps), missing: null };
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    return { steps: inOrder(steps), missing: error.message };
  }
}

class NotFound extends Error {}

function isRead({ name, result }: SystemCall): boolean {
  return name === 'read' && result > 0;
}

function isWrite({ name, result }: SystemCall): boolean {
  return WRITES.includes(name) && result > 0;
}

/** The store's log is written and then synced, both within the window. */
function noteSync(
  trace: readonly SystemCall[],
  from: SystemCall,
  to: SystemCall,
  note: (what: string, call: SystemCall | undefined) => SystemCall,
): void {
  const inWindow = trace.filter(
    (call) => call.began > from.ended && call.ended < to.began && call.target.endsWith('-wal'),
  );
  const written = note(
    'written ahead',
    inWindow.find(({ name, result }) => name === 'pwrite64' && result > 0),
  );
  note(
    'on the disk',
    inWindow.find(({ name, result, began }) => SYNCS.includes(name) && result === 0 && began > written.ended),
  );
}

function inOrder(steps: readonly Step[]): Step[] {
  return steps.toSorted((a, b) => a.call.began - b.call.began);
}
