import { REQUEST_PREFIX } from '../../canonical/id-prefixes.ts';
import type { HostTry } from '../../canonical/receipt.ts';
import type { OperatorReceiptView } from '../../canonical/receipt-view.ts';
import { stringifyJson } from '../../json/stringify.ts';
import { counted } from '../../kit/counted.ts';
import { parseId } from '../../kit/ids.ts';
import { OperatorError } from '../../operator/error.ts';
import type { CommandGroup, CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { PAGE_OPTIONS, readPage, sayMore } from '../paging.ts';
import type { Session } from '../session.ts';
import { formatRecord, formatTable } from '../table.ts';
import { readMoment, time, usd } from '../text-values.ts';
import { keysCommand, rotateKeyCommand } from './receipt-keys.ts';
import { refundCommand } from './refund.ts';
import { verifyCommand } from './verify-receipt.ts';

const showCommand: CommandSpec = {
  name: 'show <receipt>',
  summary: 'show one receipt by its request id, or why the request was refused',
  options: [
    ['--signed', 'print the receipt as a signed document, which can be kept and verified'],
    ['--proof', 'with --signed: add the proof that the receipt is in the signed root of its month'],
    ['--refunds', 'with --signed: print its refunds as signed documents instead'],
  ],
  examples: ['tollgate receipts show req_…', 'tollgate receipts show req_… --signed > receipt.json'],
  async run(session, [receipt = ''], { signed, proof, refunds }) {
    if (signed === true) return printSigned(session, receipt, proof === true, refunds === true);
    if (proof === true || refunds === true) throw usageFailure('--proof and --refunds need --signed.');
    session.show(await receiptOrRefusal(session, receipt), describeMembers);
    return EXIT.ok;
  },
};

async function printSigned(
  session: Session,
  receipt: string,
  proof: boolean,
  refunds: boolean,
): Promise<typeof EXIT.ok> {
  if (proof && refunds) throw usageFailure('Give --proof or --refunds, not both.');
  const { text } = refunds
    ? await session.ask('receipts.signrefunds', { receipt })
    : await session.ask('receipts.sign', { receipt, proof });
  session.print(text);
  return EXIT.ok;
}

/** A refused call has no receipt, but the same kind of id. */
async function receiptOrRefusal(session: Session, id: string): Promise<{ text: string; result: object }> {
  try {
    return await session.ask('receipts.show', { receipt: id });
  } catch (error) {
    const isUnknown =
      error instanceof OperatorError && error.code === 'not_found' && parseId(REQUEST_PREFIX, id) !== null;
    const { data } = isUnknown ? (await session.ask('refusals.list', { request: id })).result : { data: [] };
    if (data[0] === undefined) throw error;
    return { text: stringifyJson(data[0]), result: data[0] };
  }
}

const listCommand: CommandSpec = {
  name: 'list',
  summary: 'list receipts, the newest first',
  options: [
    ['--account <account>', 'only receipts of this account'],
    ['--key <key>', 'only receipts of this key'],
    ['--chain <id>', 'only calls of this chain, with what they cost together'],
    ['--since <when>', 'a date like 2027-01-31, or a duration like 24h'],
    ...PAGE_OPTIONS,
  ],
  examples: ['tollgate receipts list --account ada --since 24h', 'tollgate receipts list --chain order-17'],
  async run(session, _args, options) {
    const { account, key, chain, since } = options;
    const answer = await session.ask('receipts.list', {
      account: typeof account === 'string' ? account : null,
      key: typeof key === 'string' ? key : null,
      chain: typeof chain === 'string' ? chain : null,
      since: typeof since === 'string' ? readMoment(since, '--since', session.composition.clock, 'ago') : null,
      ...readPage(options),
    });
    session.show(answer, ({ data }) => (data.length === 0 ? '' : formatTable(COLUMNS, data)));
    if (answer.result.data.length === 0) session.advise('No receipts found.');
    else if (typeof chain === 'string') session.advise(describeSum(answer.result.data));
    sayMore(session, answer.result.next);
    return EXIT.ok;
  },
};

function describeSum(receipts: readonly OperatorReceiptView[]): string {
  const sumOf = (amounts: readonly (bigint | null)[]): bigint =>
    amounts.reduce<bigint>((total, amount) => total + BigInt(amount ?? 0), 0n);
  const running = receipts.filter(({ cost_nanousd }) => cost_nanousd === null).length;
  const sum = usd(sumOf(receipts.map(({ cost_nanousd }) => cost_nanousd)));
  const refunded = sumOf(receipts.map(({ refunded_nanousd }) => refunded_nanousd));
  const back = refunded === 0n ? '' : `, of which ${usd(refunded)} was refunded`;
  const calls = counted(receipts.length, 'call');
  return running === 0
    ? `${calls}, ${sum} in total${back}.`
    : `${calls}, ${sum} so far${back}; ${running} still running.`;
}

export const receiptsCommands: CommandGroup = {
  name: 'receipts',
  summary: 'show what calls cost and why, refund them, and verify signed receipts',
  commands: [showCommand, listCommand, refundCommand, verifyCommand, keysCommand, rotateKeyCommand],
};

const COLUMNS = [
  { title: 'ID', text: (receipt: OperatorReceiptView) => String(receipt.id) },
  { title: 'CREATED (UTC)', text: (receipt: OperatorReceiptView) => time(Number(receipt.created)) },
  { title: 'MODEL', text: (receipt: OperatorReceiptView) => String(receipt.effective_model) },
  { title: 'STATUS', text: (receipt: OperatorReceiptView) => String(receipt.status) },
  { title: 'ENDED', text: (receipt: OperatorReceiptView) => String(receipt.ended ?? '-') },
  { title: 'COST', align: 'right', text: (receipt: OperatorReceiptView) => amount(receipt.cost_nanousd) },
  { title: 'HOST', text: (receipt: OperatorReceiptView) => String(receipt.host ?? '-') },
] as const;

/** Lists every member, so that none is left out by mistake. */
function describeMembers(view: object): string {
  const members = Object.entries(view).filter(([name]) => name !== 'object');
  return formatRecord(members.map(([name, value]) => [name.replace(/_nanousd$/, ''), describeMember(name, value)]));
}

function describeMember(name: string, value: unknown): string {
  if (name === 'created') return `${time(Number(value))} UTC`;
  if (name.endsWith('_nanousd')) return amount(value);
  if (typeof value !== 'object' || value === null) return String(value ?? '-');
  if (name === 'tries')
    return (value as HostTry[]).map(({ host, outcome, ms }) => `${host} ${outcome} ${ms} ms`).join(', ');
  const isMoney = name === 'components';
  const parts = Object.entries(value).map(
    ([part, worth]) =>
      `${part.replace(/_nanousd$/, '')} ${isMoney || part.endsWith('_nanousd') ? amount(worth) : worth}`,
  );
  return parts.length === 0 ? '-' : parts.join(', ');
}

function amount(nanousd: unknown): string {
  return typeof nanousd === 'bigint' || typeof nanousd === 'number' ? usd(nanousd) : '-';
}
