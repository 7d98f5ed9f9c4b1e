import { LIMITS } from '../../limits.ts';
import { MANAGEMENT_KEY_ROLES } from '../../operator/choices.ts';
import type { ManagementKeyView } from '../../operator/people-view.ts';
import type { CommandGroup, CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { PAGE_OPTIONS, readPage, sayMore } from '../paging.ts';
import { formatRecord, formatTable } from '../table.ts';
import { readChoice, readExpiry, time, timeOr } from '../text-values.ts';

const EXPIRY = { daysMax: LIMITS.managementKeyDaysMax, remedy: 'A management key always expires.' };

const mintCommand: CommandSpec = {
  name: 'mint',
  summary: 'create a management key and print it, once, on stdout',
  options: [
    ['--name <text>', 'what the key is for'],
    ['--account <account>', 'the only account it may manage; without it, the whole gateway'],
    ['--role <role>', 'what it may do in that account: owner or viewer'],
    ['--read-only', 'let the key read, but change nothing'],
    [
      '--expires <when>',
      `a date like 2027-01-31, or a duration like 30d, at most ${LIMITS.managementKeyDaysMax}d (90d)`,
    ],
  ],
  examples: [
    'tollgate management-keys mint --name billing --read-only --expires 30d',
    'KEY=$(tollgate management-keys mint --name ci --account ada --role owner)',
  ],
  async run(session, _args, options) {
    const account = typeof options.account === 'string' ? options.account : null;
    const role = typeof options.role === 'string' ? readChoice(options.role, '--role', MANAGEMENT_KEY_ROLES) : null;
    if ((account === null) !== (role === null))
      throw usageFailure('--account and --role belong together: name both, or neither.');
    const expires = typeof options.expires === 'string' ? options.expires : '90d';
    const answer = await session.ask('managementkeys.mint', {
      ...(typeof options.name === 'string' && { name: options.name }),
      account,
      role: role ?? 'operator',
      read_only: options.readOnly === true,
      expires_at: readExpiry(expires, '--expires', { ...EXPIRY, clock: session.composition.clock }),
    });
    const { secret, ...key } = answer.result;
    session.show(answer, () => secret);
    session.advise(describeKey(key));
    session.advise(
      'Save the key now: it is not shown again. It gives access to the management API and cannot pay for calls.',
    );
    return EXIT.ok;
  },
};

const listCommand: CommandSpec = {
  name: 'list',
  summary: 'list management keys',
  options: [['--account <account>', 'only keys of this account'], ...PAGE_OPTIONS],
  examples: ['tollgate management-keys list'],
  async run(session, _args, options) {
    const account = typeof options.account === 'string' ? options.account : null;
    const answer = await session.ask('managementkeys.list', { account, ...readPage(options) });
    session.show(answer, ({ data }) => (data.length === 0 ? '' : formatTable(COLUMNS, data)));
    if (answer.result.data.length === 0)
      session.advise('There are no management keys yet. Create one: tollgate management-keys mint');
    sayMore(session, answer.result.next);
    return EXIT.ok;
  },
};

const revokeCommand: CommandSpec = {
  name: 'revoke <key>',
  summary: 'revoke a management key for good',
  examples: ['tollgate management-keys revoke mkey_…'],
  async run(session, [key = '']) {
    session.show(await session.ask('managementkeys.revoke', { management_key: key }), describeKey);
    return EXIT.ok;
  },
};

export const managementKeysCommands: CommandGroup = {
  name: 'management-keys',
  summary: 'manage the keys that scripts use for the management API',
  commands: [mintCommand, listCommand, revokeCommand],
};

const COLUMNS = [
  { title: 'ID', text: (key: ManagementKeyView) => key.id },
  { title: 'NAME', text: (key: ManagementKeyView) => key.name },
  { title: 'KEY', text: (key: ManagementKeyView) => key.hint },
  { title: 'ROLE', text: describeRole },
  { title: 'STATUS', text: (key: ManagementKeyView) => key.status },
  { title: 'EXPIRES (UTC)', text: (key: ManagementKeyView) => timeOr(key.expires_at, 'never') },
  { title: 'LAST USED (UTC)', text: (key: ManagementKeyView) => timeOr(key.last_used, 'never') },
] as const;

function describeKey(key: ManagementKeyView): string {
  return formatRecord([
    ['id', key.id],
    ['name', key.name],
    ['key', key.hint],
    ['role', describeRole(key)],
    ['status', key.status],
    ['expires', key.expires_at === null ? 'never' : `${time(key.expires_at)} UTC`],
  ]);
}

function describeRole({ role, account, read_only: readOnly }: ManagementKeyView): string {
  const what = account === null ? role : `${role} of ${account}`;
  return readOnly ? `${what}, read-only` : what;
}
