import type { AlertSettingsView, AlertView } from '../../operator/alerts.ts';
import { ALERT_STATUSES } from '../../operator/choices.ts';
import type { CommandGroup, CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { PAGE_OPTIONS, readPage, sayMore } from '../paging.ts';
import { formatRecord, formatTable } from '../table.ts';
import { readChoice, readCount, readUsd, time, timeOr, usd } from '../text-values.ts';

const listCommand: CommandSpec = {
  name: 'list',
  summary: 'list alerts, the newest first',
  options: [
    ['--account <account>', 'only alerts of this account'],
    ['--status <status>', `which ones: ${ALERT_STATUSES.join(', ')} (all)`],
    ...PAGE_OPTIONS,
  ],
  examples: ['tollgate alerts list --status open'],
  async run(session, _args, options) {
    const account = typeof options.account === 'string' ? options.account : null;
    const status = readChoice(typeof options.status === 'string' ? options.status : 'all', '--status', ALERT_STATUSES);
    const answer = await session.ask('alerts.list', { account, status, ...readPage(options) });
    session.show(answer, ({ data }) => (data.length === 0 ? '' : formatTable(COLUMNS, data)));
    if (answer.result.data.length === 0) session.advise('No alerts match.');
    sayMore(session, answer.result.next);
    return EXIT.ok;
  },
};

const acknowledgeCommand: CommandSpec = {
  name: 'acknowledge <alert>',
  summary: 'note that somebody has seen an alert',
  examples: ['tollgate alerts acknowledge alert_…'],
  async run(session, [alert = '']) {
    session.show(await session.ask('alerts.acknowledge', { alert }), describeAlert);
    return EXIT.ok;
  },
};

const settingsCommand: CommandSpec = {
  name: 'settings <account>',
  summary: 'show or change when an account is alerted',
  options: [
    [
      '--balance-below <usd>',
      'balance in dollars below which to alert; "off", or "default" for the setting of the gateway',
    ],
    ['--cap-percent <percent>', 'share of a cap at which to alert; "off", or "default" for the setting of the gateway'],
  ],
  examples: ['tollgate alerts settings ada', 'tollgate alerts settings ada --balance-below 5 --cap-percent 90'],
  async run(session, [account = ''], options) {
    const below = readSetting(options.balanceBelow, '0', (text) => readUsd(text, '--balance-below'));
    const percent = readSetting(options.capPercent, 0, (text) => readCount(text, '--cap-percent', 99));
    const isChange = below !== undefined || percent !== undefined;
    const answer = isChange
      ? await session.ask('alerts.configure', {
          account,
          ...(below !== undefined && { balance_below_nanousd: below }),
          ...(percent !== undefined && { cap_percent: percent }),
        })
      : await session.ask('alerts.settings', { account });
    session.show(answer, describeSettings);
    return EXIT.ok;
  },
};

export const alertsCommands: CommandGroup = {
  name: 'alerts',
  summary: 'show alerts and say when accounts are alerted',
  commands: [listCommand, acknowledgeCommand, settingsCommand],
};

/** Undefined if it was not typed, null for the gateway's setting. */
function readSetting<Value>(
  typed: string | boolean | undefined,
  off: Value,
  read: (text: string) => Value,
): Value | null | undefined {
  if (typeof typed !== 'string') return undefined;
  if (typed === 'default') return null;
  return typed === 'off' ? off : read(typed);
}

const COLUMNS = [
  { title: 'ALERT', text: (alert: AlertView) => alert.id },
  { title: 'RAISED (UTC)', text: (alert: AlertView) => time(alert.created) },
  { title: 'KIND', text: (alert: AlertView) => alert.kind },
  { title: 'STATUS', text: (alert: AlertView) => (alert.resolved_at === null ? 'open' : 'resolved') },
  { title: 'SEEN BY', text: (alert: AlertView) => alert.acknowledged_by ?? '' },
  { title: 'MESSAGE', text: (alert: AlertView) => alert.message },
] as const;

function describeAlert(alert: AlertView): string {
  return formatRecord([
    ['alert', alert.id],
    ['kind', alert.kind],
    ['account', alert.account ?? "(the operator's)"],
    ['message', alert.message],
    ['raised', `${time(alert.created)} UTC`],
    ['resolved', timeOr(alert.resolved_at, 'no')],
    ['seen by', alert.acknowledged_by ?? 'nobody'],
  ]);
}

function describeSettings(settings: AlertSettingsView): string {
  const { balance_below_nanousd: below, cap_percent: percent } = settings;
  return formatRecord([
    ['account', settings.account],
    ['balance below', below === null ? "the gateway's setting" : BigInt(below) === 0n ? 'off' : usd(below)],
    ['cap percent', percent === null ? "the gateway's setting" : percent === 0 ? 'off' : `${percent} %`],
  ]);
}
