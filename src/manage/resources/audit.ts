import { z } from 'zod';
import { ACCOUNT_PREFIX, AUDIT_PREFIX } from '../../canonical/id-prefixes.ts';
import { ACTOR_KINDS } from '../../operator/actor.ts';
import type { AuditView } from '../../operator/people-view.ts';
import { OWNER, route } from '../route.ts';
import { EXAMPLE_IDS, EXAMPLE_TIME, exampleList, id, listOf, seconds } from '../schema-fields.ts';

const auditEntry = z
  .object({
    object: z.literal('audit_entry'),
    id: id(AUDIT_PREFIX),
    at: seconds,
    actor: z.object({
      kind: z.enum(ACTOR_KINDS),
      id: z.string().nullable().describe('Null for the command line and the configuration.'),
      name: z
        .string()
        .describe('For owners, `operator` if the change was made by somebody who has no role in the account.'),
    }),
    action: z.string().describe('What was done, like `key.mint`.'),

    subject: z.string().describe('The id of what was changed.'),
    account: id(ACCOUNT_PREFIX).nullable(),
    before: z.unknown().describe('The fields that changed, with their old values; null if there were none.'),
    after: z.unknown().describe('The fields that changed, with their new values.'),
    address: z.string().nullable().describe('Where it came from; null for owners if an operator made the change.'),
  })
  .meta({ id: 'AuditEntry' });

const ENTRY: AuditView = {
  object: 'audit_entry',
  id: EXAMPLE_IDS.audit,
  at: EXAMPLE_TIME,
  actor: { kind: 'management_key', id: EXAMPLE_IDS.management_key, name: 'ci' },
  action: 'key.change',
  subject: EXAMPLE_IDS.key,
  account: EXAMPLE_IDS.account,
  before: { spend_cap_nanousd: 5_000_000_000 },
  after: { spend_cap_nanousd: 8_000_000_000 },
  address: '203.0.113.7',
};

export const AUDIT_ROUTES = [
  route({
    method: 'GET',
    path: '/audit',
    verb: 'audit.list',
    access: OWNER,
    scope: 'account',
    summary: 'Who changed what, the newest first.',
    response: listOf(auditEntry),
    example: { input: { account: 'acme', action: 'key.mint', limit: 100 }, output: exampleList(ENTRY) },
  }),
];
