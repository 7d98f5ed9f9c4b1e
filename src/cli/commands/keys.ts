import { shellWord } from '../../kit/shell-words.ts';
import { LIMITS } from '../../limits.ts';
import {
  CAP_WINDOWS,
  type CapWindow,
  KEY_PERMISSIONS,
  type KeyPermission,
  ON_UNSUPPORTED,
  type OnUnsupported,
  permissionOption,
} from '../../operator/choices.ts';
import { OperatorError } from '../../operator/error.ts';
import type { KeyView, ShownKeyView } from '../../operator/view.ts';
import type { CommandGroup, CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type CliFailure, usageFailure } from '../failure.ts';
import { ResponseLost } from '../operator-client.ts';
import { PAGE_OPTIONS, readPage, sayMore } from '../paging.ts';
import type { Session } from '../session.ts';
import { formatRecord, formatTable } from '../table.ts';
import {
  readCap,
  readCapOption,
  readDuration,
  readExpiry,
  readList,
  readUsd,
  readWindow,
  textOption,
  time,
  timeOr,
  usd,
  usdOr,
} from '../text-values.ts';

const TERMS = [
  ['--name <text>', 'what the key is for'],
  ['--cap <usd>', 'most the key may spend, in dollars'],
  ['--cap-nanousd <amount>', 'the same, in nanodollars'],
  ['--window <window>', `when the cap resets: ${CAP_WINDOWS.join(', ')}; days begin at midnight UTC`],
  ['--max-cost <usd>', 'most that one call with the key may cost, in dollars'],
  ['--note <text>', 'a note, shown with the key'],
  ['--expires <when>', 'a date like 2027-01-31, or a duration like 30d'],
  ['--models <ids>', 'the only models the key may use, separated by commas', 'list'],
  [
    '--on-unsupported <choice>',
    `what happens to fields that the model's host does not support: ${ON_UNSUPPORTED.join(' or ')}; requests may choose otherwise`,
  ],
] as const;

const EXPIRY = { daysMax: LIMITS.keyLifeDaysMax, remedy: 'Use "never" for no expiry.' };
const GRACE = `${LIMITS.keyGraceMs / 3_600_000}h`;
const PERMISSION_OPTIONS = KEY_PERMISSIONS.map(permissionOption);
const ALLOW = [
  '--allow <permissions>',
  `what the key may do besides calling models, separated by commas: ${PERMISSION_OPTIONS.join(', ')}`,
  'list',
] as const;
const DENY = ['--deny <permissions>', 'permissions to take away from the key', 'list'] as const;

const mintCommand: CommandSpec = {
  name: 'mint',
  summary: 'create a key and print it, once, on stdout',
  options: [
    ['--account <account>', 'account that pays, by id or name'],
    ['--person <person>', "whose key it is, by email address or id; the person's cap applies to it"],
    ...TERMS,
    ALLOW,
  ],
  examples: [
    'tollgate keys mint --account ada --name ci --cap 10 --window month',
    'tollgate keys mint --account ada --name admin --allow provider-keys',
    'tollgate keys mint --account ada --person grace@example.com',
    'KEY=$(tollgate keys mint --account ada)',
  ],
  async run(session, _args, options) {
    const { account } = options;
    if (typeof account !== 'string')
      throw usageFailure('--account is missing. Name the account that pays.', 'tollgate accounts list');
    const terms = readTerms(session, options);
    if (terms.window !== undefined && terms.window !== 'lifetime' && terms.spend_cap_nanousd == null)
      throw windowWithoutCap(account, terms.window);
    const input = { account, ...(typeof options.person === 'string' && { person: options.person }), ...terms };
    const answer = await session.ask('keys.mint', input, { secrets: modelsGiven(options) });
    const { secret, unknown_models: unknown, ...key } = answer.result;
    session.show(answer, () => secret);
    session.advise(describeKey(key));
    session.advise('Save the key now: it is not shown again. A lost key can only be replaced.');
    warnOfModels(session, unknown);
    return EXIT.ok;
  },
};

const listCommand: CommandSpec = {
  name: 'list',
  summary: 'list keys',
  options: [['--account <account>', 'only keys of this account'], ...PAGE_OPTIONS],
  examples: ['tollgate keys list --account ada'],
  async run(session, _args, options) {
    const account = typeof options.account === 'string' ? options.account : null;
    const answer = await session.ask('keys.list', { account, ...readPage(options) });
    session.show(answer, ({ data }) => (data.length === 0 ? '' : formatTable(COLUMNS, data)));
    if (answer.result.data.length === 0)
      session.advise('There are no keys yet. Create one: tollgate keys mint --account NAME');
    sayMore(session, answer.result.next);
    return EXIT.ok;
  },
};

const updateCommand: CommandSpec = {
  name: 'update <key>',
  summary: 'change a key; settings that are not named stay as they are',
  options: [...TERMS.map(([flags, meaning]) => [flags, `${meaning}${mayBeLifted(flags)}`] as const), ALLOW, DENY],
  examples: [
    'tollgate keys update key_… --cap 20',
    'tollgate keys update key_… --cap none --expires never --models all',
    'tollgate keys update key_… --allow provider-keys',
  ],
  async run(session, [key = ''], options) {
    const input = { key, ...readTerms(session, options), ...readPermissions(options, 'deny') };
    const answer = await session.ask('keys.update', input, { secrets: modelsGiven(options) });
    session.show(answer, describeKey);
    warnOfModels(session, answer.result.unknown_models);
    return EXIT.ok;
  },
};

const showCommand: CommandSpec = {
  name: 'show <key>',
  summary: 'show one key',
  examples: ['tollgate keys show key_…'],
  async run(session, [key = '']) {
    session.show(await session.ask('keys.show', { key }), describeKey);
    return EXIT.ok;
  },
};

const rotateCommand: CommandSpec = {
  name: 'rotate <key>',
  summary: 'give a key a new secret and print it, once, on stdout',
  options: [['--grace <duration>', `how long the old secret works, like 1h; 0s ends it at once (default ${GRACE})`]],
  examples: ['tollgate keys rotate key_…', 'NEW=$(tollgate keys rotate key_… --grace 7d)'],
  async run(session, [key = ''], { grace }) {
    const graceSeconds = typeof grace === 'string' ? readDuration(grace, '--grace', LIMITS.keyGraceMaxMs / 1000) : null;
    const input = graceSeconds === null ? { key } : { key, grace_seconds: graceSeconds };
    const answer = await session.ask('keys.rotate', input).catch((error: unknown) => {
      throw error instanceof ResponseLost ? rotationInDoubt(error.message, key) : error;
    });
    const { secret, ...rotated } = answer.result;
    session.show(answer, () => secret);
    session.advise(describeKey(rotated));
    session.advise('Save the new secret now: it is not shown again.');
    return EXIT.ok;
  },
};

/** Rotating again would end the secret that callers use, if the key was rotated. */
function rotationInDoubt(why: string, key: string): OperatorError {
  const message = `${why} It is unknown whether the key was rotated. If it was, it shows until when the old secret works; rotating again ends that secret at once.`;
  return new OperatorError('unavailable', message, `tollgate keys show ${shellWord(key)}`);
}

const disableCommand: CommandSpec = {
  name: 'disable <key>',
  summary: 'disable a key until it is enabled again; calls with it are refused within two seconds',
  examples: ['tollgate keys disable key_…'],
  async run(session, [key = '']) {
    session.show(await session.ask('keys.disable', { key }), describeKey);
    return EXIT.ok;
  },
};

const enableCommand: CommandSpec = {
  name: 'enable <key>',
  summary: 'enable a disabled key again',
  examples: ['tollgate keys enable key_…'],
  async run(session, [key = '']) {
    const answer = await session.ask('keys.enable', { key });
    session.show(answer, describeKey);
    if (answer.result.person_disabled_at !== null)
      session.advise("The key still does not work: its person is disabled, or has no role in the key's account.");
    return EXIT.ok;
  },
};

const revokeCommand: CommandSpec = {
  name: 'revoke <key>',
  summary: 'revoke a key for good; calls with it are refused within two seconds',
  examples: ['tollgate keys revoke key_…'],
  async run(session, [key = '']) {
    session.show(await session.ask('keys.revoke', { key }), describeKey);
    return EXIT.ok;
  },
};

export const keysCommands: CommandGroup = {
  name: 'keys',
  summary: 'manage gateway keys, which callers authenticate with',
  commands: [
    mintCommand,
    listCommand,
    showCommand,
    updateCommand,
    rotateCommand,
    disableCommand,
    enableCommand,
    revokeCommand,
  ],
};

const COLUMNS = [
  { title: 'ID', text: (key: KeyView) => key.id },
  { title: 'NAME', text: (key: KeyView) => key.name },
  { title: 'KEY', text: (key: KeyView) => key.hint },
  { title: 'STATUS', text: (key: KeyView) => key.status },
  { title: 'CAP', align: 'right', text: (key: KeyView) => usdOr(key.spend_cap_nanousd, '-') },
  { title: 'WINDOW', text: (key: KeyView) => key.window },
  { title: 'SPENT', align: 'right', text: (key: ShownKeyView) => usd(key.spent_nanousd) },
  { title: 'LEFT', align: 'right', text: (key: ShownKeyView) => usdOr(key.remaining_nanousd, '-') },
  { title: 'LAST USED (UTC)', text: (key: KeyView) => timeOr(key.last_used_at, 'never') },
  { title: 'EXPIRES (UTC)', text: (key: KeyView) => timeOr(key.expires_at, 'never') },
  { title: 'MODELS', text: (key: KeyView) => key.models?.join(',') ?? 'all' },
  { title: 'PERMISSIONS', text: ({ permissions }: KeyView) => describePermissions(permissions, ',') },
  { title: 'UNSUPPORTED', text: (key: KeyView) => key.on_unsupported },
  { title: 'ACCOUNT', text: (key: KeyView) => key.account },
  { title: 'PERSON', text: (key: KeyView) => key.person ?? '-' },
  { title: 'NOTE', text: (key: KeyView) => key.note ?? '-' },
] as const;

function describeKey(key: KeyView & Partial<ShownKeyView>): string {
  return formatRecord([
    ['id', key.id],
    ['account', key.account],
    ['person', key.person ?? 'none'],
    ['name', key.name],
    ['key', key.hint],
    ...(key.old_secret_expires_at === null
      ? []
      : [['old key works until', `${time(key.old_secret_expires_at)} UTC`] as const]),
    ['status', key.revoked_at === null ? key.status : `revoked ${time(key.revoked_at)} UTC`],
    ['cap', key.spend_cap_nanousd === null ? 'none' : `${usdOr(key.spend_cap_nanousd, '')} per ${key.window}`],
    ...spendingOf(key),
    ['most per call', usdOr(key.max_cost_nanousd, 'no limit')],
    ['last used', key.last_used_at === null ? 'never' : `about ${time(key.last_used_at)} UTC`],
    ['expires', key.expires_at === null ? 'never' : `${time(key.expires_at)} UTC`],
    ['models', key.models?.join(', ') ?? 'all'],
    ['permissions', describePermissions(key.permissions, ', ')],
    ['on unsupported', key.on_unsupported],
    ['note', key.note ?? '-'],
  ]);
}

/** Only for keys that are listed or shown: the result of a change has no amounts. */
function spendingOf({ spent_nanousd: spent, remaining_nanousd: left, resets_at: resets }: Partial<ShownKeyView>) {
  if (spent === undefined) return [];
  return [
    ['spent', usd(spent)],
    ...(left == null ? [] : [['left', usd(left)] as const]),
    ...(resets == null ? [] : [['resets', `${time(resets)} UTC`] as const]),
  ] as const;
}

/** The permissions, as they are written after --allow. */
function describePermissions(permissions: KeyView['permissions'], separator: string): string {
  return permissions.map(permissionOption).join(separator);
}

interface Terms {
  name?: string;
  spend_cap_nanousd?: string | null;
  window?: CapWindow;
  expires_at?: number | null;
  models?: string[] | null;
  allow?: KeyPermission[];
  on_unsupported?: OnUnsupported;
  note?: string | null;
  max_cost_nanousd?: string | null;
}

/** `none`, `never` and `all` remove a restriction. */
function readTerms(session: Session, options: Options): Terms {
  const { name, window, expires, models, onUnsupported, maxCost } = options;
  const { clock } = session.composition;
  const note = textOption(options, 'note', LIMITS.keyNoteCharsMax);
  const cap = readCapOption(options);
  return {
    ...(typeof name === 'string' && { name }),
    ...(cap !== undefined && { spend_cap_nanousd: cap }),
    ...(typeof window === 'string' && { window: readWindow(window) }),
    ...(note !== null && { note: note.trim() === '' ? null : note }),
    ...(typeof maxCost === 'string' && {
      max_cost_nanousd: maxCost === 'none' ? null : readCap(readUsd(maxCost, '--max-cost'), maxCost, '--max-cost'),
    }),
    ...(typeof expires === 'string' && {
      expires_at: expires === 'never' ? null : readExpiry(expires, '--expires', { ...EXPIRY, clock }),
    }),
    ...(typeof models === 'string' && { models: readModels(models) }),
    ...(typeof onUnsupported === 'string' && { on_unsupported: readOnUnsupported(onUnsupported) }),
    ...readPermissions(options, 'allow'),
  };
}

/** Null allows all models. */
function readModels(text: string): string[] | null {
  const models = readList(text);
  if (!models.includes('all')) return models;
  if (models.every((model) => model === 'all')) return null;
  throw usageFailure('--models must be "all" or a list of models, not both.');
}

function readPermissions<Name extends 'allow' | 'deny'>(
  options: Options,
  name: Name,
): Partial<Record<Name, KeyPermission[]>> {
  const text = options[name];
  if (typeof text !== 'string') return {};
  const permissions = readList(text).map((option) => readPermission(option, name));
  if (permissions.length === 0)
    throw usageFailure(`--${name} names no permission. Name at least one of ${PERMISSION_OPTIONS.join(', ')}.`);
  return { [name]: permissions } as Partial<Record<Name, KeyPermission[]>>;
}

function readOnUnsupported(text: string): OnUnsupported {
  const choice = ON_UNSUPPORTED.find((known) => known === text);
  if (choice !== undefined) return choice;
  throw usageFailure(`--on-unsupported must be ${ON_UNSUPPORTED.join(' or ')}, not "${text}".`);
}

function readPermission(option: string, name: string): KeyPermission {
  const permission = KEY_PERMISSIONS.find((known) => permissionOption(known) === option || known === option);
  if (permission !== undefined) return permission;
  throw usageFailure(`--${name} must name permissions (${PERMISSION_OPTIONS.join(', ')}), not "${option}".`);
}

function windowWithoutCap(account: string, window: CapWindow): CliFailure {
  const message = '--window sets when a spend cap resets, but this key has no cap. Add --cap, or remove --window.';
  return usageFailure(message, `tollgate keys mint --account ${shellWord(account)} --cap 10 --window ${window}`);
}

/** Model names are checked against the served models, which depend on the provider keys. */
function modelsGiven({ models }: Options): 'read' | 'leave' {
  return typeof models === 'string' && models !== 'all' ? 'read' : 'leave';
}

function mayBeLifted(flags: string): string {
  if (flags.startsWith('--cap') || flags.startsWith('--max-cost')) return '; "none" removes it';
  if (flags.startsWith('--expires')) return '; "never" removes it';
  if (flags.startsWith('--note')) return '; "" removes it';
  return flags.startsWith('--models') ? '; "all" removes it' : '';
}

function warnOfModels(session: Session, unknown: readonly string[]): void {
  if (unknown.length > 0)
    session.say(`Not served now, check the spelling: ${unknown.join(', ')} (see: tollgate models)`);
}
