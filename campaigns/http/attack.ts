import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Answer, readAnswers } from './answers.ts';

/** What is done on one connection. */
export interface Attack {
  /** Written one after the other, with a turn of the event loop between. */
  readonly pieces: readonly Buffer[];
  /**
   * What follows: wait for the responses; wait for a while and then end the writing side, which tells a waiting gateway
   * that nothing more will come; end it at once; reset; or reset once anything comes back.
   */
  readonly after: 'wait' | 'wait-a-while' | 'half-close' | 'reset' | 'reset-on-answer';
  /** The most responses; after that the connection is done. */
  readonly answersMax: number;
  /** What is wrong with the responses, beyond the general rules; null if nothing is. */
  judge?(answers: readonly Answer[], text: string): string | null;
}

export interface Seen {
  readonly answers: readonly Answer[];
  readonly text: string;
  /** Neither a response nor an end within a reasonable time. */
  readonly hung: boolean;
}

const WAIT_MS = 20_000;

export async function perform(port: number, attack: Attack): Promise<Seen> {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  const seen = watch(socket, attack);
  for (const piece of attack.pieces) {
    if (socket.destroyed) break;
    if (!socket.write(piece)) await drained(socket);
    await nextTurn();
  }
  if (attack.after === 'wait-a-while') await aWhile(socket);
  if (attack.after === 'wait-a-while' || attack.after === 'half-close') socket.end();
  if (attack.after === 'reset') socket.resetAndDestroy();
  return seen;
}

/** After this time without a response, the gateway is assumed to wait for more. */
const WHILE_MS = 60;

function aWhile(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, WHILE_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function watch(socket: Socket, attack: Attack): Promise<Seen> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      socket.destroy();
    }, WAIT_MS);
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      if (attack.after === 'reset-on-answer') socket.resetAndDestroy();
      else if (isDone(chunks, attack)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(timer);
      const text = Buffer.concat(chunks).toString('latin1');
      resolve({ answers: readAnswers(text, true).complete, text, hung });
    });
  });
}

function isDone(chunks: readonly Buffer[], { answersMax }: Attack): boolean {
  const text = Buffer.concat(chunks).toString('latin1');
  return readAnswers(text, false).complete.length >= answersMax;
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.once('drain', resolve);
    socket.once('close', resolve);
  });
}
