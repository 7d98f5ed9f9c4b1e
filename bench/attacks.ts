/** What one key can do to the calls of others. */
interface Attack {
  readonly name: string;
  readonly perSecond: number;
  body(): Buffer;
}

const LARGE_PER_SECOND = 50;
const REFUSED_PER_SECOND = 1_000;

/** A small call, as others make it. */
export const CALL = { model: 'sim-gpt', messages: [{ role: 'user', content: 'hello' }], max_tokens: 20 };

function manyKeys(): Record<string, number> {
  return Object.fromEntries(Array.from({ length: 99_000 }, (_, at) => [`key${at}`, 1]));
}

export const ATTACKS: readonly Attack[] = [
  largeBody('many keys in one object', () => ({ ...CALL, metadata: manyKeys() })),
  largeBody('many values', () => ({ ...CALL, metadata: Array.from({ length: 500_000 }, () => 1) })),
  largeBody('many escapes', () => ({ ...CALL, user: '\n"'.repeat(250_000) })),
  { name: 'many refused calls', perSecond: REFUSED_PER_SECOND, body: () => Buffer.from(JSON.stringify(CALL)) },
];

function largeBody(name: string, value: () => unknown): Attack {
  return { name, perSecond: LARGE_PER_SECOND, body: () => Buffer.from(JSON.stringify(value())) };
}
