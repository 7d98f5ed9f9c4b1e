import type { Random } from '../../test/random.ts';
import type { Answer } from './answers.ts';
import type { Attack } from './attack.ts';

/** What an attack may use. */
export interface Means {
  /** The header line with a valid key. */
  readonly key: string;
}

/** A kind of attack; its weight says how often it is chosen. */
export interface AttackClass {
  readonly name: string;
  readonly weight: number;
  make(random: Random, means: Means): Attack;
}

/** Overload is intentional, and its response says when to retry. */
export function isDeliberate({ status, headers }: Answer): boolean {
  return (status === 503 || status === 529) && headers['retry-after'] !== undefined;
}

/** Statuses that no response may have. */
export function complaintOf(answer: Answer): string | null {
  const { status, headers, body } = answer;
  if (status >= 500 && !isDeliberate(answer)) return `status ${status}`;
  if (status < 400) return null;
  if (headers['content-length'] === '0' || body === '') return null;
  if (!isEnvelope(body)) return `status ${status} without an error in its body: ${body.slice(0, 100)}`;
  return null;
}

function isEnvelope(body: string): boolean {
  try {
    const { error } = JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' && error.message !== '';
  } catch {
    return false;
  }
}
