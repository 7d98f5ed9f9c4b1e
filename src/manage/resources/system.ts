import { z } from 'zod';
import { ACCOUNT_PREFIX, JOB_PREFIX } from '../../canonical/id-prefixes.ts';
import type { SealStatusView } from '../../operator/seal.ts';
import type { VerifyTaskView } from '../../operator/verify-task.ts';
import { route } from '../route.ts';
import { count, EXAMPLE_TIME, id, nanousd, seconds } from '../schema-fields.ts';

const acceptedLosses = z
  .array(z.object({ accepted: seconds, receipts: count, spent_nanousd: nanousd }))
  .readonly()
  .describe('Receipts that were lost with a damaged file and that the ledger continues without.');

const system = z
  .object({
    object: z.literal('status'),
    version: z.string(),
    server: z.object({ url: z.string(), pid: count, hosted: z.boolean(), started: seconds }).nullable(),
    store: z.object({ ok: z.boolean(), reason: z.string().nullable(), may_admit: z.boolean() }),
    clock_behind_ms: z.number().describe('How far the clock is behind the last call of the ledger.'),
    accepted_losses: acceptedLosses,
    models: count,
    price_version: z.string(),
    settings: z.record(z.string(), z.unknown()).describe('The configuration in force, without secrets.'),
    setting_sources: z
      .record(z.string(), z.string())
      .describe('Where a setting comes from: a flag, a variable or `config file`. Those at their default are absent.'),
    disk_free_bytes: count.nullable().describe('Free space of the disk with the data folder.'),
  })
  .meta({ id: 'System' });

const verification = z.object({
  object: z.literal('verification'),
  ok: z.boolean(),
  accounts: count,
  keys: count,
  receipts: count,
  credits: count,
  refunds: count,
  open_holds: count,
  loss_nanousd: nanousd,
  closed_months: count,
  closed_receipts: count,
  since: z.string().nullable(),
  not_kept: count,
  without_tree: count,
  violations: z.array(z.string()).readonly(),
  accepted_losses: acceptedLosses,
});

const verificationTask = z
  .object({
    object: z.literal('verification_task'),
    status: z.enum(['none', 'running', 'done', 'failed']),
    started: seconds.nullable(),
    ended: seconds.nullable(),
    rows_read: count,
    rows_total: count,
    report: verification.nullable(),
    reason: z.string().nullable().describe('Why it failed.'),
  })
  .meta({ id: 'VerificationTask' });

const sealStatus = z
  .object({
    object: z.literal('seal_status'),
    source: z.string().describe('Where the master keys come from.'),
    keys: z
      .array(z.object({ id: z.string(), use: z.enum(['seals', 'opens', 'unknown']), rows: count }))
      .readonly()
      .describe(
        'The first one encrypts, the others only decrypt. An unknown one is missing, so its rows cannot be decrypted.',
      ),
    rows: count.describe('Encrypted provider keys, secrets of webhooks, and requests and results of jobs.'),
    unreadable: count,
    unreadable_keys: z
      .array(
        z.object({
          account: id(ACCOUNT_PREFIX).nullable(),
          provider: z.string().nullable(),
          webhook: z.string().nullable(),
          job: id(JOB_PREFIX).optional(),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'SealStatus' });

const SEALS: SealStatusView = {
  object: 'seal_status',
  source: 'master.key in the data folder',
  keys: [{ id: 'a1b2c3d4', use: 'seals', rows: 12 }],
  rows: 12,
  unreadable: 0,
  unreadable_keys: [],
};

const RUNNING: VerifyTaskView = {
  object: 'verification_task',
  status: 'running',
  started: EXAMPLE_TIME,
  ended: null,
  rows_read: 0,
  rows_total: 0,
  report: null,
  reason: null,
};

export const SYSTEM_ROUTES = [
  route({
    method: 'GET',
    path: '/system',
    verb: 'system.show',
    access: 'operator',
    summary: 'Version, store, server, and the settings in force, without secrets.',
    response: system,
    example: {
      input: {},
      output: {
        object: 'status',
        version: '0.1.0',
        server: { url: 'http://127.0.0.1:8080', pid: 4242, hosted: true, started: EXAMPLE_TIME },
        store: { ok: true, reason: null, may_admit: true },
        clock_behind_ms: 0,
        accepted_losses: [],
        models: 120,
        price_version: '2027-01-31.1',
        settings: { hosted: true, log_level: 'info' },
        setting_sources: { hosted: '--hosted', 'listen.port': 'TOLLGATE_PORT' },
        disk_free_bytes: 48_318_382_080,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/system/seal',
    verb: 'seal.status',
    access: 'operator',
    summary: 'Which master keys encrypt what is stored, and whether all of it can be decrypted. Reads every such row.',
    response: sealStatus,
    example: { input: {}, output: SEALS },
  }),
  route({
    method: 'POST',
    path: '/system/verify',
    verb: 'system.verify',
    access: 'operator',
    summary:
      'Starts to verify the ledger: all months, or those from `since` on, like 2026-05; with `usage` also the usage sums. Only one verification runs at a time.',
    response: verificationTask,
    example: { input: {}, output: RUNNING },
  }),
  route({
    method: 'GET',
    path: '/system/verify',
    verb: 'system.verification',
    access: 'operator',
    summary: "The progress of the ledger's verification, or what the last one found.",
    response: verificationTask,
    example: { input: {}, output: { ...RUNNING, rows_read: 40_000, rows_total: 120_000 } },
  }),
];
