import { LIMITS } from '../../limits.ts';
import type { PublicJwk } from '../../signing/jws.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { formatTable } from '../table.ts';
import { time } from '../text-values.ts';

const OVERLAP = `${LIMITS.receiptKeyOverlapMs / 60_000} minutes`;

export const keysCommand: CommandSpec = {
  name: 'keys',
  summary: 'list the public keys that verify signed receipts, and when each of them signs',
  examples: ['tollgate receipts keys', 'tollgate receipts keys --json > keys.json'],
  async run(session) {
    const answer = await session.ask('receipts.keys', {});
    session.show(answer, ({ keys }) => (keys.length === 0 ? '' : formatTable(COLUMNS, keys)));
    if (answer.result.keys.length === 0)
      session.advise('There is no key yet; the first start of the gateway makes one.');
    return EXIT.ok;
  },
};

export const rotateKeyCommand: CommandSpec = {
  name: 'rotate-key',
  summary: `make a new key for receipts, which signs in ${OVERLAP}; older ones still verify`,
  options: [['--now', 'sign with the new key at once, for example because the old one may have leaked']],
  examples: ['tollgate receipts rotate-key'],
  async run(session, _args, { now }) {
    const answer = await session.ask('receipts.rotatekey', { now: now === true });
    session.show(answer, ({ keys }) => formatTable(COLUMNS, keys));
    return EXIT.ok;
  },
};

const COLUMNS = [
  { title: 'KEY', text: ({ kid }: PublicJwk) => kid },
  { title: 'SIGNS FROM (UTC)', text: ({ nbf }: PublicJwk) => time(nbf) },
  { title: 'UNTIL (UTC)', text: ({ exp }: PublicJwk) => (exp === undefined ? '-' : time(exp)) },
] as const;
