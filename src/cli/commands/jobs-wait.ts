import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { GROUP_PREFIX } from '../../canonical/id-prefixes.ts';
import { tryParseJson } from '../../json/json.ts';
import { pause } from '../../kit/pause.ts';
import { LIMITS } from '../../limits.ts';
import type { JobGroupView, JobView } from '../../operator/job-view.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure } from '../failure.ts';
import { type GatewayClient, GatewayLost } from '../gateway-client.ts';
import { readOperatorJson } from '../operator-json.ts';
import { ProgressLine } from '../progress.ts';
import type { Session } from '../session.ts';

const UNFINISHED: readonly string[] = ['scheduled', 'queued', 'running', 'cancelling', 'paused'];

export function isGroup(view: JobView | JobGroupView): view is JobGroupView {
  return view.object === 'job_group';
}

/** `answered`: its call was made and has an answer, good or bad. */
export function endOf(view: JobView | JobGroupView): 'none' | 'answered' | 'unanswered' {
  if (isGroup(view)) return view.status === 'finished' ? 'answered' : 'none';
  if (UNFINISHED.includes(view.status)) return 'none';
  return view.status === 'succeeded' || view.status === 'failed' ? 'answered' : 'unanswered';
}

/** Asks until the job or the group has ended. A gateway that restarts is waited for. */
export async function waitForEnd(
  session: Session,
  client: GatewayClient,
  id: string,
  again: string,
): Promise<JobView | JobGroupView> {
  const path = id.startsWith(GROUP_PREFIX) ? `/jobs/groups/${id}` : `/jobs/${id}`;
  const line = new ProgressLine(session);
  let misses = 0;
  try {
    for (;;) {
      const view = await ask(client, path);
      if (view === null && ++misses > LIMITS.jobPollMissesMax)
        throw new CliFailure(EXIT.unreachable, `The gateway did not answer ${misses} times in a row.`, again);
      if (view !== null) {
        misses = 0;
        if (isGroup(view)) line.tell('jobs', ended(view), view.counts.total, 'ended');
        if (endOf(view) !== 'none') return view;
      }
      await pause(session.composition.clock, LIMITS.jobPollMs);
    }
  } finally {
    line.end();
  }
}

async function ask(client: GatewayClient, path: string): Promise<JobView | JobGroupView | null> {
  try {
    return readOperatorJson(await client.text('GET', path)) as JobView | JobGroupView;
  } catch (error) {
    if (error instanceof GatewayLost) return null;
    throw error;
  }
}

function ended({ counts }: JobGroupView): number {
  return counts.succeeded + counts.failed + counts.cancelled + counts.expired;
}

/** The file for results, null for standard output, and the flags that name the gateway that has them. */
interface ResultPlace {
  readonly out: string | null;
  readonly gateway: string;
}

/** Writes the answer of a job, or the results of a group, to the file or to standard output. */
export async function saveResult(
  session: Session,
  client: GatewayClient,
  id: string,
  { out, gateway }: ResultPlace,
): Promise<void> {
  try {
    if (id.startsWith(GROUP_PREFIX)) await saveLines(session, client, id, out);
    else await saveAnswer(session, client, id, out);
  } catch (error) {
    throw out === null ? error : notWritten(error, out, `tollgate jobs result ${id}${gateway} --out FILE`);
  }
}

/** A full disk, or a folder that is gone, is nothing that the gateway or this program could repair. */
function notWritten(error: unknown, out: string, again: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof CliFailure || code === undefined || syscall === undefined) return error;
  return new CliFailure(EXIT.no, `Cannot write ${out} (${code}).`, again);
}

async function saveAnswer(session: Session, client: GatewayClient, id: string, out: string | null): Promise<void> {
  const { status, body, isAnswer } = await client.stored(`/jobs/${id}/result`);
  if (!isAnswer) throw new CliFailure(EXIT.no, `The gateway has no result of ${id}: ${describeRefusal(body, status)}`);
  if (out === null) session.print(body.toString());
  else writeWhole(out, body);
}

function describeRefusal(body: Buffer, status: number): string {
  const { error } = (tryParseJson(body.toString()) ?? {}) as { error?: { message?: string } };
  return error?.message ?? `status ${status}`;
}

/** A file is written beside its final name, and renamed when it is whole. What an interrupted command left is continued. */
async function saveLines(session: Session, client: GatewayClient, id: string, out: string | null): Promise<void> {
  const path = `/jobs/groups/${id}/results`;
  if (out === null) {
    // A piece may end within a character.
    const decoder = new TextDecoder();
    for await (const piece of client.pieces(path))
      session.composition.terminal.writeOut(decoder.decode(piece, { stream: true }));
    return;
  }
  const part = `${out}.${id}.part`;
  const after = existsSync(part) ? lastWholeLine(part) : null;
  const file = openSync(part, 'a', 0o600);
  try {
    for await (const piece of client.pieces(after === null ? path : `${path}?after=${after}`))
      writeFileSync(file, piece);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(part, out);
}

/** The id in the last whole line; what follows it is cut off. */
function lastWholeLine(part: string): string | null {
  const bytes = readFileSync(part);
  const end = bytes.lastIndexOf(10) + 1;
  truncateSync(part, end);
  const start = bytes.lastIndexOf(10, end - 2) + 1;
  const { id } = (tryParseJson(bytes.toString('utf8', start, end)) ?? {}) as { id?: string };
  if (typeof id === 'string') return id;
  truncateSync(part, 0);
  return null;
}

function writeWhole(out: string, bytes: Buffer): void {
  const part = `${out}.part`;
  const file = openSync(part, 'w', 0o600);
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(part, out);
}
