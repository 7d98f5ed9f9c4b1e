import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configOf, type Key } from '../kill/world.ts';
import { Gateway } from './gateway.ts';

/** A data folder that no process has open, and who may call on it. */
export interface Accounts {
  readonly folder: string;
  readonly keys: readonly Key[];
  /** A key with a small cap per day. */
  readonly cappedKey: Key;
  readonly creditsNanousd: ReadonlyMap<string, bigint>;
}

const RICH_NANOUSD = 100_000_000_000n;
/** Enough for a few dozen calls: the rest of a round's calls have to be refused. */
const POOR_NANOUSD = 1_000_000n;
/** A call of the traffic holds more than half of it. */
const SMALL_CAP_NANOUSD = 300_000n;

export async function openAccounts(parent: string, hostUrl: string): Promise<Accounts> {
  const folder = join(parent, 'template');
  mkdirSync(folder, { mode: 0o700 });
  const configFile = join(parent, 'template.json');
  writeFileSync(configFile, JSON.stringify(configOf(hostUrl)));
  const gateway = await Gateway.start({ folder, configFile });
  if (!(gateway instanceof Gateway)) throw new Error(`The first gateway did not start: ${gateway.said.join(' ')}`);
  const creditsNanousd = new Map<string, bigint>();
  const open = async (name: string, creditNanousd: bigint): Promise<string> => {
    const { id } = (await gateway.ask('accounts.create', { name })) as { id: string };
    await gateway.ask('accounts.credit', { account: id, amount_nanousd: String(creditNanousd) });
    creditsNanousd.set(id, creditNanousd);
    return id;
  };
  const mint = async (account: string, cap: object = {}): Promise<Key> => {
    const { id, secret } = (await gateway.ask('keys.mint', { account, ...cap })) as { id: string; secret: string };
    return { id, secret, account };
  };
  const rich = await open('ada', RICH_NANOUSD);
  const poor = await open('grace', POOR_NANOUSD);
  const capped = await open('edsger', RICH_NANOUSD);
  const cappedKey = await mint(capped, { spend_cap_nanousd: String(SMALL_CAP_NANOUSD), window: 'day' });
  const free = await mint(rich);
  const monthly = await mint(rich, { spend_cap_nanousd: String(RICH_NANOUSD), window: 'month' });
  const keys = [free, monthly, await mint(poor), await mint(capped), cappedKey];
  await gateway.end('SIGTERM');
  return { folder, keys, cappedKey, creditsNanousd };
}
