import { z } from 'zod';
import { ALERT_PREFIX } from '../../canonical/id-prefixes.ts';
import { ALERT_KINDS, type AlertSettingsView, type AlertView } from '../../operator/alerts.ts';
import { OWNER, route } from '../route.ts';
import { EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, nanousd, seconds } from '../schema-fields.ts';

const alert = z
  .object({
    object: z.literal('alert'),
    id: id(ALERT_PREFIX),
    kind: z.enum(ALERT_KINDS),
    account: z.string().nullable().describe('Null if it is for the operator.'),
    subject: z.string().describe('The id or the name of what it is about.'),
    message: z.string(),
    data: z.record(z.string(), z.unknown()).describe('The figures, as webhooks get them.'),
    created: seconds,
    resolved_at: seconds.nullable().describe('When it was resolved; null while it is open.'),
    acknowledged_at: seconds.nullable(),
    acknowledged_by: z.string().nullable(),
  })
  .meta({ id: 'Alert' });

const settings = z
  .object({
    object: z.literal('alert_settings'),
    account: z.string(),
    balance_below_nanousd: nanousd.nullable().describe("Null is the gateway's setting, 0 is off."),
    cap_percent: z.int().nullable().describe("Null is the gateway's setting, 0 is off."),
  })
  .meta({ id: 'AlertSettings' });

const ALERT: AlertView = {
  object: 'alert',
  id: EXAMPLE_IDS.alert,
  kind: 'balance',
  account: EXAMPLE_IDS.account,
  subject: EXAMPLE_IDS.account,
  message: 'The account "acme" has a balance of $0.42, below $1.00.',
  data: { balance_nanousd: 420_000_000, below_nanousd: 1_000_000_000 },
  created: EXAMPLE_TIME,
  resolved_at: null,
  acknowledged_at: null,
  acknowledged_by: null,
};
const SETTINGS: AlertSettingsView = {
  object: 'alert_settings',
  account: EXAMPLE_IDS.account,
  balance_below_nanousd: 5_000_000_000n,
  cap_percent: null,
};

export const ALERTS_ROUTES = [
  route({
    method: 'GET',
    path: '/alerts',
    verb: 'alerts.list',
    access: OWNER,
    scope: 'account',
    summary: 'Alerts, newest first. `account` filters the list; `status` is all, open or unacknowledged.',
    response: listOf(alert),
    example: { input: { account: 'acme', status: 'open' }, output: exampleList(ALERT) },
  }),
  route({
    method: 'POST',
    path: '/alerts/{alert}/acknowledge',
    verb: 'alerts.acknowledge',
    access: OWNER,
    scope: 'alert',
    summary: 'Notes that somebody has seen the alert. Only the first note is kept.',
    response: alert,
    example: {
      input: { alert: EXAMPLE_IDS.alert },
      output: { ...ALERT, acknowledged_at: EXAMPLE_TIME, acknowledged_by: 'ada@example.com' },
    },
  }),
  route({
    method: 'GET',
    path: '/accounts/{account}/alert-settings',
    verb: 'alerts.settings',
    access: OWNER,
    scope: 'account',
    summary: 'When the account is alerted.',
    response: settings,
    example: { input: { account: 'acme' }, output: SETTINGS },
  }),
  route({
    method: 'PATCH',
    path: '/accounts/{account}/alert-settings',
    verb: 'alerts.configure',
    access: OWNER,
    scope: 'account',
    summary: 'Changes only the fields that are sent.',
    response: settings,
    example: { input: { account: 'acme', balance_below_nanousd: 5_000_000_000 }, output: SETTINGS },
  }),
];
