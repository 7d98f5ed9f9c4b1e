import { counted } from '../../kit/counted.ts';
import { CAP_WINDOWS, type CapWindow } from '../../operator/choices.ts';
import type { PersonView, SessionView } from '../../operator/people-view.ts';
import type { CommandGroup, CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { PAGE_OPTIONS, readPage, sayMore } from '../paging.ts';
import type { VerbAnswer } from '../reach-operator.ts';
import type { Session } from '../session.ts';
import { formatRecord, formatTable } from '../table.ts';
import { readCapOption, readRole, readWindow, time, usd } from '../text-values.ts';

const CAP_OPTIONS = [
  ['--cap <usd>', 'most that all keys of the person may spend in the account, in dollars'],
  ['--cap-nanousd <amount>', 'the same, in nanodollars'],
  ['--window <window>', `when the cap resets: ${CAP_WINDOWS.join(', ')}`],
] as const;

function readCapTerms(options: Options): { spend_cap_nanousd?: string | null; window?: CapWindow } {
  const cap = readCapOption(options);
  return {
    ...(cap !== undefined && { spend_cap_nanousd: cap }),
    ...(typeof options.window === 'string' && { window: readWindow(options.window) }),
  };
}

const inviteCommand: CommandSpec = {
  name: 'invite <email>',
  summary: 'print a sign-in link for a person, once; you have to pass it on yourself',
  options: [
    ['--operator', 'may see and change everything'],
    ['--account <account>', 'account in which the person gets a role'],
    ['--role <role>', 'owner, member or viewer'],
    ...CAP_OPTIONS,
  ],
  examples: [
    'tollgate people invite ada@example.com --operator',
    'tollgate people invite ada@example.com --account ada --role owner',
    'tollgate people invite bob@example.com --account ada --role member --cap 50 --window month',
  ],
  async run(session, [email = ''], options) {
    const account = typeof options.account === 'string' ? options.account : null;
    const role = readRole(options.role);
    if ((account === null) !== (role === null))
      throw usageFailure('--account and --role belong together: name both, or neither.');
    const terms = { email, operator: options.operator === true, account, role, ...readCapTerms(options) };
    const answer = await session.ask('people.invite', terms);
    showLink(session, answer);
    return EXIT.ok;
  },
};

const capCommand: CommandSpec = {
  name: 'cap <person>',
  summary: 'change what all keys of a person may spend in an account',
  options: [['--account <account>', 'account in which the person has a role'], ...CAP_OPTIONS],
  examples: [
    'tollgate people cap ada@example.com --account ada --cap 50 --window month',
    'tollgate people cap ada@example.com --account ada --cap none',
  ],
  async run(session, [person = ''], options) {
    const terms = readCapTerms(options);
    if (typeof options.account !== 'string') throw usageFailure('Name the account with --account.');
    if (Object.keys(terms).length === 0) throw usageFailure('Name the cap with --cap, or "--cap none" to remove it.');
    const answer = await session.ask('members.put', { account: options.account, person, ...terms });
    session.show(answer, ({ email, role, spend_cap_nanousd: cap, window }) =>
      formatRecord([
        ['person', email],
        ['role', role],
        ['cap', cap === null ? 'none' : `${usd(cap)} per ${window}`],
      ]),
    );
    return EXIT.ok;
  },
};

const resetCommand: CommandSpec = {
  name: 'reset <person>',
  summary: 'print a link, once, that lets a person set a new password',
  examples: ['tollgate people reset ada@example.com'],
  async run(session, [person = '']) {
    showLink(session, await session.ask('people.reset', { person }));
    return EXIT.ok;
  },
};

function showLink<Name extends 'people.invite' | 'people.reset'>(session: Session, answer: VerbAnswer<Name>): void {
  const { link, secret, email, expires } = answer.result;
  session.show(answer, () => link ?? secret);
  session.advise(`The link is for ${email}, works once, and expires ${time(expires)} UTC. It is not shown again.`);
  if (link === null) session.advise(`This is only the secret of the link, because ${adviceOnLink(session)}`);
}

/** On PostgreSQL a command does not go through a gateway, so what one was started with is not known here. */
function adviceOnLink(session: Session): string {
  return session.config('leave').store === null
    ? 'the gateway does not know its own address. Start it in hosted mode with --public-url, and invite again.'
    : 'this command does not know the address of the gateway. Set TOLLGATE_PUBLIC_URL to it here too, and invite again.';
}

const listCommand: CommandSpec = {
  name: 'list',
  summary: 'list people',
  options: PAGE_OPTIONS,
  examples: ['tollgate people list'],
  async run(session, _args, options) {
    const answer = await session.ask('people.list', readPage(options));
    session.show(answer, ({ data }) => (data.length === 0 ? '' : formatTable(COLUMNS, data)));
    if (answer.result.data.length === 0)
      session.advise('There are no people yet. Invite one: tollgate people invite EMAIL --operator');
    sayMore(session, answer.result.next);
    return EXIT.ok;
  },
};

function personCommand(
  verb: 'people.disable' | 'people.enable',
  spec: { readonly name: string; readonly summary: string; readonly examples: readonly string[] },
): CommandSpec {
  return {
    ...spec,
    async run(session, [person = '']) {
      session.show(await session.ask(verb, { person }), describePerson);
      return EXIT.ok;
    },
  };
}

const showCommand: CommandSpec = {
  name: 'show <person>',
  summary: 'show a person and the roles they have',
  examples: ['tollgate people show ada@example.com'],
  async run(session, [person = '']) {
    const answer = await session.ask('people.show', { person });
    session.show(answer, (found) => {
      const roles = found.roles.map(({ account, role }) => `${role} of ${account}`);
      return `${describePerson(found)}${formatRecord([['roles', roles.join(', ') || 'none']])}`;
    });
    return EXIT.ok;
  },
};

const sessionsCommand: CommandSpec = {
  name: 'sessions <person>',
  summary: 'list the sessions of a person',
  examples: ['tollgate people sessions ada@example.com'],
  async run(session, [person = '']) {
    const answer = await session.ask('people.sessions', { person });
    session.show(answer, ({ data }) => (data.length === 0 ? '' : formatTable(SESSION_COLUMNS, data)));
    if (answer.result.data.length === 0) session.advise('This person has no open session.');
    return EXIT.ok;
  },
};

const signOutCommand: CommandSpec = {
  name: 'sign-out <person>',
  summary: 'end all sessions of a person',
  examples: ['tollgate people sign-out ada@example.com'],
  async run(session, [person = '']) {
    const answer = await session.ask('people.signout', { person });
    session.show(answer, ({ sessions_ended: ended }) => `${counted(ended, 'session')} ended`);
    return EXIT.ok;
  },
};

export const peopleCommands: CommandGroup = {
  name: 'people',
  summary: 'manage who may sign in',
  commands: [
    inviteCommand,
    listCommand,
    showCommand,
    personCommand('people.disable', {
      name: 'disable <person>',
      summary: 'end the sessions of a person, disable their keys and revoke the management keys they minted',
      examples: ['tollgate people disable ada@example.com'],
    }),
    personCommand('people.enable', {
      name: 'enable <person>',
      summary: 'let a disabled person sign in again and their keys work again; their management keys stay revoked',
      examples: ['tollgate people enable ada@example.com'],
    }),
    capCommand,
    resetCommand,
    sessionsCommand,
    signOutCommand,
  ],
};

const COLUMNS = [
  { title: 'ID', text: (person: PersonView) => person.id },
  { title: 'EMAIL', text: (person: PersonView) => person.email },
  { title: 'ADDRESS', text: addressState },
  { title: 'NAME', text: (person: PersonView) => person.name },
  { title: 'OPERATOR', text: (person: PersonView) => (person.operator ? 'yes' : 'no') },
  { title: 'STATUS', text: (person: PersonView) => person.status },
  { title: 'SIGNS IN WITH', text: waysIn },
  { title: 'CREATED (UTC)', text: (person: PersonView) => time(person.created) },
] as const;

const SESSION_COLUMNS = [
  { title: 'ID', text: (each: SessionView) => each.id },
  { title: 'BEGAN (UTC)', text: (each: SessionView) => time(each.created) },
  { title: 'LAST USED (UTC)', text: (each: SessionView) => time(each.last_used) },
  { title: 'FROM', text: (each: SessionView) => each.address },
  { title: 'WITH', text: (each: SessionView) => each.user_agent },
] as const;

function describePerson(person: PersonView): string {
  return formatRecord([
    ['id', person.id],
    ['email', person.email],
    ['address', addressState(person)],
    ['name', person.name],
    ['operator', person.operator ? 'yes' : 'no'],
    ['status', person.status],
    ['signs in with', waysIn(person)],
    ['created', `${time(person.created)} UTC`],
  ]);
}

function addressState({ address_confirmed: isConfirmed }: PersonView): string {
  return isConfirmed ? 'confirmed' : 'not confirmed';
}

function waysIn({ password, single_sign_on: sso }: PersonView): string {
  return [password && 'password', sso && 'single sign-on'].filter(Boolean).join(', ') || 'nothing yet';
}
