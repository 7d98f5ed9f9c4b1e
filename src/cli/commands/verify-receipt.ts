import { readFileSync } from 'node:fs';
import { stringifyJson } from '../../json/stringify.ts';
import { NotVerified, type PublicJwk } from '../../signing/jws.ts';
import { compareRoots, readKeySet, readRoot, type Verified, verifyDocument } from '../../signing/verify.ts';
import type { RootContent } from '../../signing/verify-proof.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure, unreachable, usageFailure } from '../failure.ts';
import type { Session } from '../session.ts';
import { formatRecord } from '../table.ts';
import { time, usd } from '../text-values.ts';

export const verifyCommand: CommandSpec = {
  name: 'verify <file>',
  summary: 'check a signed receipt or refund, without asking the gateway that signed it',
  options: [
    ['--keys <file-or-url>', "the gateway's key set; without it, the keys of this data folder or store"],
    [
      '--root <file>',
      'a root of the month that you have kept, or a receipt with its proof: the proof must lead to the same root',
    ],
  ],
  examples: [
    'tollgate receipts verify receipt.json --keys keys.json',
    'tollgate receipts verify receipt.json --keys https://gateway.example/.well-known/tollgate-receipt-keys.json',
  ],
  async run(session, [file = ''], { keys, root }) {
    const text = readText(session, file);
    try {
      const set = await keysFor(session, typeof keys === 'string' ? keys : null);
      const verified = verifyDocument(text, set);
      if (typeof root === 'string') compareRoots(verified, readRoot(readText(session, root), set));
      session.show({ text: stringifyJson(viewOf(verified)), result: verified }, describe);
      return EXIT.ok;
    } catch (error) {
      if (error instanceof NotVerified) throw new CliFailure(EXIT.no, `NOT VERIFIED: ${error.message}`);
      throw error;
    }
  },
};

function readText(session: Session, file: string): string {
  try {
    return readFileSync(session.pathOf(file), 'utf8');
  } catch (error) {
    throw usageFailure(`Cannot read ${file} (${(error as NodeJS.ErrnoException).code ?? 'unknown error'}).`);
  }
}

async function keysFor(session: Session, place: string | null): Promise<readonly PublicJwk[]> {
  if (place === null) {
    const { keys } = (await session.ask('receipts.keys', {})).result;
    if (keys.length > 0) return keys;
    throw usageFailure(
      'This ledger has no signing key. Name the key set of the gateway that signed the file: --keys FILE or --keys URL.',
    );
  }
  if (!/^https?:/.test(place)) return readKeySet(readText(session, place));
  const url = URL.canParse(place) ? new URL(place) : null;
  if (url === null) throw usageFailure('--keys must be the path of a file or a URL.');
  const downloaded = await session.composition.download(url);
  if ('refused' in downloaded) throw unreachable(`Cannot read ${url.origin}${url.pathname}: ${downloaded.refused}`);
  return readKeySet(downloaded.toString());
}

function viewOf({ kind, kid, books, generation, signedAt, content, root }: Verified): object {
  const origin = { kid, books, generation, signed_at: signedAt };
  return { object: 'verified_receipt', verified: true, kind, ...origin, content, root: root?.content ?? null };
}

function describe({ kind, kid, books, generation, signedAt, content, root }: Verified): string {
  const amount = kind === 'receipt' ? content.cost_nanousd : content.amount_nanousd;
  return formatRecord([
    ['verified', `yes, by the key ${kid}`],
    ['signed', `${time(signedAt)} UTC`],
    ['ledger', `${books}, generation ${generation}`],
    [kind, String(content.id)],
    ['account', String(content.account)],
    ...(kind === 'receipt' ? ([['model', String(content.effective_model)]] as const) : []),
    ...(kind === 'receipt' ? ([['status', String(content.status)]] as const) : []),
    [kind === 'receipt' ? 'cost' : 'refunded', usd(BigInt(String(amount)))],
    ...(root === null ? [] : ([['proof', describeRoot(root.content)]] as const)),
  ]);
}

function describeRoot({ number, month, final, root }: RootContent): string {
  return `in root ${number}, of ${month}${final ? '' : ', which has not ended'}: ${root}`;
}
