/** One system call, from the line where it began to the line where it ended. */
export interface SystemCall {
  readonly name: string;
  readonly seconds: number;
  /** What the first argument refers to: a file's path, or the two ends of a connection. */
  readonly target: string;
  readonly text: string;
  readonly result: number;
  /** Positions in the trace, which orders all threads. */
  readonly began: number;
  readonly ended: number;
}

const LINE = /^(\d+) +(\d+\.\d+) (.*)$/;
/** The arrow between the ends of a connection is not a closing bracket. */
const FIRST_ARGUMENT = /^(\w+)\(\d+<((?:->|[^>])*)>(.*)$/;
const OVER = /^(.*)\) += (-?\d+)/;
const RESUMED = /^<\.\.\. \w+ resumed>(.*)$/;
const UNFINISHED = ' <unfinished ...>';

/** Reads the output of `strace -f -ttt -yy`; a call that another thread interrupted is on two lines. */
export function readTrace(text: string): SystemCall[] {
  const calls: SystemCall[] = [];
  const open = new Map<string, Begun>();
  for (const [at, line] of text.split('\n').entries()) {
    const [, thread = '', seconds = '', said = ''] = LINE.exec(line) ?? [];
    const rest = RESUMED.exec(said)?.[1];
    const begun = rest === undefined ? begin(said, Number(seconds), at) : resume(open.get(thread), rest);
    if (begun === null) continue;
    const over = OVER.exec(begun.text);
    if (over === null) open.set(thread, begun);
    else calls.push({ ...begun, text: over[1]!, result: Number(over[2]), ended: at });
  }
  return calls.toSorted((a, b) => a.began - b.began);
}

type Begun = Omit<SystemCall, 'result' | 'ended'>;

function begin(said: string, seconds: number, began: number): Begun | null {
  const [, name, target = '', rest = ''] = FIRST_ARGUMENT.exec(said) ?? [];
  return name === undefined ? null : { name, seconds, target, text: rest.replace(UNFINISHED, ''), began };
}

function resume(begun: Begun | undefined, rest: string): Begun | null {
  return begun === undefined ? null : { ...begun, text: begun.text + rest };
}
