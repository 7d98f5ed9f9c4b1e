import { Agent, request } from 'node:http';
import { systemClock } from '../src/kit/clock.ts';

export interface Timed {
  readonly status: number;
  readonly ms: number;
}

/** Calls begin at fixed times, however long the earlier ones take. */
export async function callAtRate(
  url: string,
  key: string,
  body: Buffer,
  perSecond: number,
  seconds: number,
): Promise<Timed[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const calls = Array.from({ length: perSecond * seconds }, async (_, at) => {
    await new Promise<void>((due) => systemClock.after((at * 1000) / perSecond, due));
    return call(agent, url, key, body);
  });
  const timed = await Promise.all(calls);
  agent.destroy();
  return timed;
}

function call(agent: Agent, url: string, key: string, body: Buffer): Promise<Timed> {
  const beganMs = systemClock.monotonicMs();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((done) => {
    const end = (status: number): void => done({ status, ms: systemClock.monotonicMs() - beganMs });
    const sent = request(`${url}/v1/chat/completions`, { agent, method: 'POST', headers }, (response) => {
      response.resume();
      response.on('end', () => end(response.statusCode ?? 0));
    });
    sent.on('error', () => end(0));
    sent.end(body);
  });
}
