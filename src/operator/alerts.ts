import { z } from 'zod';
import { Alerts } from '../alerts/alerts.ts';
import { ACCOUNT_PREFIX, ALERT_PREFIX } from '../canonical/id-prefixes.ts';
import { tryParseExact } from '../json/json.ts';
import { formatId, parseId } from '../kit/ids.ts';
import { secondsOrNull, toSeconds } from '../kit/unix-seconds.ts';
import { ALERT_KINDS, type Alert, type AlertKind, type AlertSettings } from '../store/alerts.ts';
import { auditRow, differences } from './actor.ts';
import { actsAsOperator } from './acts-as-operator.ts';
import { againIfChanged } from './again-if-changed.ts';
import { ALERT_STATUSES } from './choices.ts';
import { OperatorError } from './error.ts';
import { amount, idOrName, page } from './input.ts';
import { accountNamed, afterId } from './lookup.ts';
import { namesInAccount } from './names-in-account.ts';
import type { OperatorServices } from './services.ts';
import { type ListView, listView } from './view.ts';

export { ALERT_KINDS } from '../store/alerts.ts';

export const alertPage = z.strictObject({
  account: idOrName.nullable().default(null),
  kind: z.enum(ALERT_KINDS).nullable().default(null),
  status: z.enum(ALERT_STATUSES).default('all'),
  ...page,
});
export const alertChoice = z.strictObject({ alert: idOrName });
export const alertAccount = z.strictObject({ account: idOrName });

/** Absent members stay unchanged. Null takes the gateway's setting, 0 turns the alert off. */
export const alertSettingsUpdate = z.strictObject({
  account: idOrName,
  balance_below_nanousd: amount
    .refine((nanousd) => nanousd >= 0n, 'must not be negative')
    .nullable()
    .optional(),
  cap_percent: z.int().min(0).max(99).nullable().optional(),
});

/** Times are in seconds since 1970. */
export interface AlertView {
  readonly object: 'alert';
  readonly id: string;
  readonly kind: AlertKind;
  /** Null if it is for the operator. */
  readonly account: string | null;
  /** The id or the name of what it is about. */
  readonly subject: string;
  readonly message: string;
  /** The figures, as webhooks get them. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly created: number;
  /** When it was resolved; null while it is open. */
  readonly resolved_at: number | null;
  readonly acknowledged_at: number | null;
  readonly acknowledged_by: string | null;
}

export interface AlertSettingsView {
  readonly object: 'alert_settings';
  readonly account: string;
  /** Null is the gateway's setting, 0 is off. */
  readonly balance_below_nanousd: bigint | null;
  readonly cap_percent: number | null;
}

export async function listAlerts(
  services: OperatorServices,
  input: z.output<typeof alertPage>,
): Promise<ListView<AlertView>> {
  const account = input.account === null ? null : await accountNamed(services, input.account);
  const filter = {
    accountId: account?.id ?? null,
    kind: input.kind,
    open: input.status === 'open',
    unacknowledged: input.status === 'unacknowledged',
  };
  const before = afterId(ALERT_PREFIX, input.after);
  const rows = await services.store.directory.listAlerts(filter, { before, limit: input.limit });
  const views = rows.map(alertView);
  const isForOperator = account === null || (await actsAsOperator(services));
  return listView(isForOperator ? views : await asAccountSees(services, account.id, views), input.limit);
}

/** The addresses of operators are not for the people of an account. */
async function asAccountSees(
  { store }: OperatorServices,
  accountId: bigint,
  alerts: readonly AlertView[],
): Promise<AlertView[]> {
  const named = alerts.flatMap(({ acknowledged_by: name }) => (name === null ? [] : [name]));
  const names = await namesInAccount(store, accountId, new Set(named));
  return alerts.map((alert) => ({ ...alert, acknowledged_by: names.get(alert.acknowledged_by ?? '') ?? null }));
}

export async function acknowledgeAlert(
  services: OperatorServices,
  input: z.output<typeof alertChoice>,
): Promise<AlertView> {
  const { directory } = services.store;
  const id = parseId(ALERT_PREFIX, input.alert);
  const before = id === null ? null : await directory.findAlert(id);
  if (before === null)
    throw new OperatorError(
      'not_found',
      'There is no such alert. Name it by its id, like alert_….',
      'tollgate alerts list',
    );
  const audit = auditRow(services, {
    action: 'alert.acknowledge',
    subject: input.alert,
    accountId: before.accountId,
  });
  const alert = await directory.acknowledgeAlert(before.id, services.actor.name, services.clock.nowMs(), audit);
  if (alert === 'not_found') throw new OperatorError('not_found', 'The alert was deleted in the meantime.');
  const view = alertView(alert);
  if (alert.accountId === null || (await actsAsOperator(services))) return view;
  return (await asAccountSees(services, alert.accountId, [view]))[0]!;
}

export async function showAlertSettings(
  services: OperatorServices,
  input: z.output<typeof alertAccount>,
): Promise<AlertSettingsView> {
  const { id } = await accountNamed(services, input.account);
  return settingsView(id, await services.store.directory.alertSettings(id));
}

export function updateAlertSettings(
  services: OperatorServices,
  input: z.output<typeof alertSettingsUpdate>,
): Promise<AlertSettingsView> {
  return againIfChanged('these settings', () => changeSettings(services, input));
}

async function changeSettings(
  services: OperatorServices,
  input: z.output<typeof alertSettingsUpdate>,
): Promise<AlertSettingsView | 'changed'> {
  const { id } = await accountNamed(services, input.account);
  const { directory } = services.store;
  const before = await directory.alertSettings(id);
  const { balance_below_nanousd: below, cap_percent: percent } = input;
  if (below === undefined && percent === undefined)
    throw new OperatorError(
      'invalid_input',
      'Name at least one setting to change: balance_below_nanousd or cap_percent.',
    );
  const after = {
    balanceBelowNanousd: below === undefined ? before.balanceBelowNanousd : below,
    capPercent: percent === undefined ? before.capPercent : percent,
  };
  const view = settingsView(id, after);
  const changes = differences(settingsView(id, before), view);
  if (Object.keys(changes.after).length === 0) return view;
  const audit = auditRow(services, { action: 'alerts.change', subject: view.account, accountId: id, ...changes });
  return (await directory.putAlertSettings(id, after, audit, before)) === 'changed' ? 'changed' : view;
}

/** Where alerts are raised: by the running server, which also logs them, or by a command. */
export function alertsOf({ live, store, clock, ids }: OperatorServices): Alerts {
  return live?.alerts ?? new Alerts({ store: store.directory, clock, ids, onRaised: () => {} });
}

function alertView(alert: Alert): AlertView {
  return {
    object: 'alert',
    id: formatId(ALERT_PREFIX, alert.id),
    kind: alert.kind,
    account: alert.accountId === null ? null : formatId(ACCOUNT_PREFIX, alert.accountId),
    subject: alert.subject,
    message: alert.message,
    data: tryParseExact(alert.dataJson) as Record<string, unknown>,
    created: toSeconds(alert.createdMs),
    resolved_at: secondsOrNull(alert.resolvedMs),
    acknowledged_at: secondsOrNull(alert.acknowledgedMs),
    acknowledged_by: alert.acknowledgedBy,
  };
}

function settingsView(accountId: bigint, { balanceBelowNanousd, capPercent }: AlertSettings): AlertSettingsView {
  return {
    object: 'alert_settings',
    account: formatId(ACCOUNT_PREFIX, accountId),
    balance_below_nanousd: balanceBelowNanousd,
    cap_percent: capPercent,
  };
}
