import { shellWord } from '../../kit/shell-words.ts';
import { LIMITS } from '../../limits.ts';
import type { DeliveryView, WebhookView } from '../../operator/webhooks.ts';
import type { CommandGroup, CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { PAGE_OPTIONS, readPage, sayMore } from '../paging.ts';
import { type Operator, withOperator } from '../reach-operator.ts';
import type { Session } from '../session.ts';
import { formatRecord, formatTable } from '../table.ts';
import { readDuration, readList, time, timeOr } from '../text-values.ts';

const ACCOUNT_OPTION = [
  '--account <account>',
  "the account that the webhook belongs to; without it, the operator's webhook",
] as const;
const SAVE_SECRET = 'Save the secret now: it is not shown again. Receivers verify every delivery with it.';

const addCommand: CommandSpec = {
  name: 'add <name> <url>',
  summary: 'add a webhook and print its secret, once, on stdout; changes URL and events if the name is known',
  options: [ACCOUNT_OPTION, ['--events <types>', 'events to send, separated by commas (all)', 'list']],
  examples: [
    'tollgate webhooks add pager https://hooks.example.com/tollgate',
    "tollgate webhooks add billing https://hooks.example.com/t --account ada --events 'alert.*'",
  ],
  async run(session, [name = '', url = ''], options) {
    const events = typeof options.events === 'string' ? readList(options.events) : null;
    const answer = await session.ask('webhooks.put', { account: accountOf(options), name, url, events });
    const { secret, ...webhook } = answer.result;
    session.show(answer, () => secret ?? '');
    session.advise(describeWebhook(webhook));
    if (secret !== null) session.advise(SAVE_SECRET);
    return EXIT.ok;
  },
};

function ownerFlag({ account }: Options): string {
  return typeof account === 'string' ? ` --account ${shellWord(account)}` : '';
}

/** Whoever added a webhook to an account, and does not find it here, must not think that it was lost. */
function adviceWithout(options: Options): string {
  const owner = ownerFlag(options);
  const add = `Add one: tollgate webhooks add NAME URL${owner}`;
  if (owner !== '') return `The account has no webhooks yet. ${add}`;
  return `The operator has no webhooks yet. ${add}\nThose of an account: tollgate webhooks list --account ACCOUNT`;
}

const listCommand: CommandSpec = {
  name: 'list',
  summary: 'list webhooks',
  options: [ACCOUNT_OPTION],
  examples: ['tollgate webhooks list', 'tollgate webhooks list --account ada'],
  async run(session, _args, options) {
    const answer = await session.ask('webhooks.list', { account: accountOf(options) });
    session.show(answer, ({ data }) => (data.length === 0 ? '' : formatTable(COLUMNS, data)));
    if (answer.result.data.length === 0) session.advise(adviceWithout(options));
    return EXIT.ok;
  },
};

const showCommand: CommandSpec = {
  name: 'show <name>',
  summary: 'show a webhook and its last deliveries',
  options: [ACCOUNT_OPTION, ...PAGE_OPTIONS],
  examples: ['tollgate webhooks show pager'],
  async run(session, [name = ''], options) {
    const account = accountOf(options);
    const answer = await session.ask('webhooks.show', { account, name });
    const { result } = await session.ask('webhooks.deliveries', { account, name, ...readPage(options) });
    const { data } = result;
    const table = data.length === 0 ? '' : `\n${formatTable(DELIVERY_COLUMNS, data)}`;
    const shown = { ...answer.result, deliveries: data };
    session.show({ text: JSON.stringify(shown), result: shown }, () => describeWebhook(answer.result) + table);
    sayMore(session, result.next);
    return EXIT.ok;
  },
};

const rotateCommand: CommandSpec = {
  name: 'rotate <name>',
  summary: 'make a new secret and print it, once, on stdout; the old one also signs for a while',
  options: [ACCOUNT_OPTION, ['--grace <duration>', 'how long the old secret also signs, like 1h or 0s (24h)']],
  examples: ['tollgate webhooks rotate pager --grace 1h'],
  async run(session, [name = ''], options) {
    const { grace } = options;
    const secondsMax = LIMITS.webhookGraceMaxMs / 1000;
    const answer = await session.ask('webhooks.rotate', {
      account: accountOf(options),
      name,
      ...(typeof grace === 'string' && { grace_seconds: readDuration(grace, '--grace', secondsMax) }),
    });
    const { secret, ...webhook } = answer.result;
    session.show(answer, () => secret ?? '');
    session.advise(describeWebhook(webhook));
    session.advise(SAVE_SECRET);
    return EXIT.ok;
  },
};

const testCommand: CommandSpec = {
  name: 'test <name>',
  summary: 'send a test event and wait for its delivery; exits with 1 if it was not accepted',
  options: [ACCOUNT_OPTION],
  examples: ['tollgate webhooks test pager'],
  async run(session, [name = ''], options) {
    const account = accountOf(options);
    const ended = await withOperator(session.composition, session.config('leave'), { mayCreate: false }, (operator) =>
      sendTest(session, operator, { account, name }),
    );
    session.show({ text: JSON.stringify(ended), result: ended }, describeDelivery);
    if (ended.attempts === 0) {
      const show = `tollgate webhooks show ${shellWord(name)}${ownerFlag(options)}`;
      session.advise(`It has not been attempted yet: a running server delivers it. See "${show}".`);
    }
    return ended.status === 'delivered' ? EXIT.ok : EXIT.no;
  },
};

const removeCommand: CommandSpec = {
  name: 'remove <name>',
  summary: 'remove a webhook with its secrets and deliveries',
  options: [ACCOUNT_OPTION],
  examples: ['tollgate webhooks remove pager'],
  async run(session, [name = ''], options) {
    const answer = await session.ask('webhooks.remove', { account: accountOf(options), name });
    session.show(answer, () => `Removed webhook "${name}".`);
    return EXIT.ok;
  },
};

export const webhooksCommands: CommandGroup = {
  name: 'webhooks',
  summary: 'manage the URLs that events are sent to',
  commands: [addCommand, listCommand, showCommand, rotateCommand, testCommand, removeCommand],
};

function accountOf({ account }: Options): string | null {
  return typeof account === 'string' ? account : null;
}

interface Choice {
  readonly account: string | null;
  readonly name: string;
}

/** Without a running server nothing is delivered, so there is nothing to wait for. */
async function sendTest(session: Session, operator: Operator, choice: Choice): Promise<DeliveryView> {
  let delivery = (await operator.run('webhooks.test', choice)).result;
  const looksMax = operator.server === null ? 0 : Math.ceil(LIMITS.webhookAnswerMs / LIMITS.folderRetryMs);
  for (let looks = 0; looks < looksMax && delivery.attempts === 0; looks++) {
    await new Promise<void>((done) => void session.composition.clock.after(LIMITS.folderRetryMs, done));
    const { data } = (await operator.run('webhooks.deliveries', choice)).result;
    delivery = data.find(({ id }) => id === delivery.id) ?? delivery;
  }
  return delivery;
}

const COLUMNS = [
  { title: 'NAME', text: (webhook: WebhookView) => webhook.name },
  { title: 'URL', text: (webhook: WebhookView) => webhook.url },
  { title: 'EVENTS', text: describeEvents },
  { title: 'STATUS', text: (webhook: WebhookView) => webhook.status },
  { title: 'WAITING', align: 'right', text: (webhook: WebhookView) => String(webhook.pending) },
  { title: 'LAST DELIVERED (UTC)', text: (webhook: WebhookView) => timeOr(webhook.last_delivered_at, 'never') },
] as const;

const DELIVERY_COLUMNS = [
  { title: 'EVENT', text: (delivery: DeliveryView) => delivery.id },
  { title: 'TYPE', text: (delivery: DeliveryView) => delivery.type },
  { title: 'CREATED (UTC)', text: (delivery: DeliveryView) => time(delivery.created) },
  { title: 'STATUS', text: (delivery: DeliveryView) => delivery.status },
  { title: 'ATTEMPTS', align: 'right', text: (delivery: DeliveryView) => String(delivery.attempts) },
  { title: 'RESULT', text: describeResult },
] as const;

function describeResult({ error, http_status: status }: DeliveryView): string {
  return error ?? (status === null ? '' : String(status));
}

function describeEvents({ events }: WebhookView): string {
  return events === null ? 'all' : events.join(', ');
}

function describeWebhook(webhook: WebhookView): string {
  return formatRecord([
    ['name', webhook.name],
    ['account', webhook.account ?? "(the operator's)"],
    ['url', webhook.url],
    ['events', describeEvents(webhook)],
    ['status', webhook.status],
    ['waiting', String(webhook.pending)],
    ['dropped', String(webhook.dropped)],
    ['last delivered', timeOr(webhook.last_delivered_at, 'never')],
    [
      'old secret',
      webhook.old_secret_expires_at === null ? 'none' : `until ${time(webhook.old_secret_expires_at)} UTC`,
    ],
  ]);
}

function describeDelivery(delivery: DeliveryView): string {
  return formatRecord([
    ['event', delivery.id],
    ['status', delivery.status],
    ['attempts', String(delivery.attempts)],
    ['result', describeResult(delivery)],
  ]);
}
