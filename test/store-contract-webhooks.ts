import { describe, expect, it } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import type { Directory } from '../src/store/directory.ts';
import type { DeliveryOutcome, NewWebhook, WebhookEvent } from '../src/store/webhooks.ts';
import { audit } from './people-fixtures.ts';
import { NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

const LEASE_MS = 45_000;

function aWebhook(id: bigint, over: Partial<NewWebhook> = {}): NewWebhook {
  const url = `https://hooks.example/${id}`;
  return { id, accountId: 1n, name: `hook-${id}`, url, events: null, createdMs: NOON_MS, ...over };
}

function anEvent(id: bigint, over: Partial<WebhookEvent> = {}): WebhookEvent {
  return { id, accountId: 1n, type: 'alert.balance', dataJson: `{"n":${id}}`, createdMs: NOON_MS, ...over };
}

const DELIVERED: DeliveryOutcome = {
  state: 'delivered',
  triedMs: NOON_MS,
  dueMs: NOON_MS,
  nextMs: NOON_MS,
  httpStatus: 204,
  error: null,
};
const LATER: DeliveryOutcome = {
  ...DELIVERED,
  state: 'pending',
  dueMs: NOON_MS + 5_000,
  nextMs: NOON_MS + 1_000,
  httpStatus: 500,
  error: 'status 500',
};

/** Webhooks and their deliveries, the same on both engines. */
export function webhookContract(name: string, open: OpenStore): void {
  describe(`webhook contract: ${name}`, () => {
    const subject = new StoreSubject(open);
    const directory = (): Directory => subject.store.directory;
    const put = (webhook: NewWebhook, secretId = webhook.id + 1000n) =>
      directory().putWebhook(
        webhook,
        { id: secretId, sealed: Buffer.from(`sealed-${secretId}`) },
        audit('webhook.put'),
      );
    /** Without a claim before, the webhook has no lease. */
    const finish = (eventId: bigint, outcome: DeliveryOutcome, leaseEndMs = 0) =>
      directory().finishDelivery({ webhookId: 1n, eventId, leaseEndMs }, outcome);
    const claim = (id: bigint, nowMs = NOON_MS) => directory().claimDelivery(id, nowMs, LEASE_MS);

    it('goes with its account when that is closed, secrets and deliveries too, and none can be added after that', async () => {
      await put(aWebhook(1n));
      await put(aWebhook(2n, { accountId: null }));
      await directory().setAccountStatus(1n, 'suspended', audit('account.suspend'));
      const payout = { id: 90n, reference: 'closing', note: '', createdMs: NOON_MS };
      await directory().closeAccount(1n, payout, audit('account.close'));
      expect(await directory().listWebhooks(1n)).toEqual([]);
      expect(await directory().webhookSecrets(1n, NOON_MS)).toEqual([]);
      expect(await directory().listWebhooks(null)).toMatchObject([{ id: 2n }]);
      expect(await put(aWebhook(3n))).toEqual({ kind: 'account_closed' });
    });

    it('is created once by its name, with its first secret, and changed after that', async () => {
      expect(await put(aWebhook(1n, { name: 'a', events: ['alert.*'] }))).toMatchObject({ kind: 'created' });
      const changed = await put(aWebhook(2n, { name: 'a', url: 'https://hooks.example/new' }));
      expect(changed).toMatchObject({
        kind: 'changed',
        webhook: { id: 1n, url: 'https://hooks.example/new', events: null, version: 2n },
      });
      expect(await directory().findWebhook(1n, 'a')).toEqual('webhook' in changed ? changed.webhook : null);
      expect(await directory().webhookSecrets(1n, NOON_MS)).toMatchObject([{ id: 1001n, expiresMs: null }]);
      expect(await directory().findWebhook(null, 'a')).toBeNull();
    });

    it('may have the same name for an account and for the operator', async () => {
      await put(aWebhook(1n, { name: 'a' }));
      await put(aWebhook(2n, { name: 'a', accountId: null }));
      expect(await directory().listWebhooks(1n)).toMatchObject([{ id: 1n, accountId: 1n }]);
      expect(await directory().listWebhooks(null)).toMatchObject([{ id: 2n, accountId: null }]);
    });

    it('is refused when the account has too many', async () => {
      for (let id = 1n; id <= LIMITS.webhooksPerAccountMax; id++) await put(aWebhook(id));
      expect(await put(aWebhook(99n))).toEqual({ kind: 'too_many' });
      expect(await put(aWebhook(99n, { name: 'hook-1' }))).toMatchObject({ kind: 'changed' });
      expect(await put(aWebhook(100n, { accountId: null }))).toMatchObject({ kind: 'created' });
    });

    it('has at most two secrets, and only the newest for good', async () => {
      await put(aWebhook(1n));
      const rotate = (id: bigint, oldExpiresMs: number) =>
        directory().rotateWebhookSecret(1n, { id, sealed: Buffer.from('s') }, oldExpiresMs, audit('webhook.rotate'));
      expect(await rotate(2001n, NOON_MS + 10)).toBe(true);
      expect(await directory().webhookSecrets(1n, NOON_MS)).toMatchObject([{ id: 2001n }, { id: 1001n }]);
      expect(await directory().webhookSecrets(1n, NOON_MS + 10)).toMatchObject([{ id: 2001n }]);
      expect(await rotate(2002n, NOON_MS + 20)).toBe(true);
      expect(await directory().webhookSecrets(1n, NOON_MS)).toMatchObject([{ id: 2002n }, { id: 2001n }]);
      const sealed = Buffer.from('s');
      expect(await directory().resealWebhookSecret(2002n, Buffer.from('other'), sealed)).toBe(false);
      expect(await directory().resealWebhookSecret(2002n, sealed, Buffer.from('t'))).toBe(true);
      const rows = await directory().webhookSecretsAfter(2001n, 10);
      expect(rows.map((row) => [row.id, row.webhookName, Buffer.from(row.sealed).toString()])).toEqual([
        [2002n, 'hook-1', 't'],
      ]);
    });

    it('is told of the events that it names, and the operator of those that are for both', async () => {
      await put(aWebhook(1n, { events: ['alert.*'] }));
      await put(aWebhook(2n, { events: ['job.failed'] }));
      await put(aWebhook(3n, { accountId: null }));
      expect(await directory().emitEvent(anEvent(10n))).toBe(1);
      expect(await directory().emitEvent(anEvent(11n, { toOperator: true }))).toBe(2);
      expect(await directory().emitEvent(anEvent(12n, { type: 'webhook.test', webhookId: 2n }))).toBe(1);
      expect(await directory().emitEvent(anEvent(13n, { accountId: null }))).toBe(1);
      const eventsOf = async (id: bigint) =>
        (await directory().listDeliveries(id, { before: null, limit: 9 })).map(({ eventId }) => eventId);
      expect([await eventsOf(1n), await eventsOf(2n), await eventsOf(3n)]).toEqual([[11n, 10n], [12n], [13n, 11n]]);
    });

    it('is claimed by one of several, and by another when the lease has ended', async () => {
      await put(aWebhook(1n));
      await directory().emitEvent(anEvent(10n));
      expect(await directory().dueWebhooks(NOON_MS, 5)).toEqual([
        { id: 1n, accountId: 1n, url: 'https://hooks.example/1' },
      ]);
      const claims = await Promise.all([claim(1n), claim(1n), claim(1n)]);
      expect(claims.filter((each) => each !== null)).toMatchObject([{ delivery: { eventId: 10n, attempts: 0 } }]);
      expect(await directory().dueWebhooks(NOON_MS, 5)).toEqual([]);
      expect(await claim(1n, NOON_MS + LEASE_MS)).toMatchObject({ delivery: { eventId: 10n, dataJson: '{"n":10}' } });
    });

    it('keeps the lease of a second process when the first one reports late, and takes from that only a success', async () => {
      await put(aWebhook(1n));
      await directory().emitEvent(anEvent(10n));
      const stalled = (await claim(1n))!;
      const second = (await claim(1n, NOON_MS + LEASE_MS))!;
      expect(await finish(10n, { ...LATER, state: 'failed' }, stalled.leaseEndMs)).toBeNull();
      expect(await directory().findDelivery(1n, 10n)).toMatchObject({ state: 'pending', attempts: 0 });
      expect(await directory().findWebhook(1n, 'hook-1')).toMatchObject({ failures: 0, failingMs: null });
      expect(await finish(10n, DELIVERED, stalled.leaseEndMs)).toBeNull();
      expect(await directory().findDelivery(1n, 10n)).toMatchObject({ state: 'delivered', attempts: 1 });
      await directory().emitEvent(anEvent(11n, { createdMs: NOON_MS + LEASE_MS }));
      expect(await directory().dueWebhooks(NOON_MS + 2 * LEASE_MS - 1, 5)).toEqual([]);
      const ended = { ...DELIVERED, httpStatus: 299, nextMs: NOON_MS + LEASE_MS + 200 };
      expect(await finish(10n, ended, second.leaseEndMs)).toBe(NOON_MS + LEASE_MS + 200);
      expect(await directory().findDelivery(1n, 10n)).toMatchObject({ state: 'delivered', httpStatus: 204 });
    });

    it('is written to the audit with its event only if the event was stored', async () => {
      const test = (id: bigint, webhookId: bigint) =>
        directory().emitEvent(anEvent(id, { type: 'webhook.test', webhookId }), audit('webhook.test'));
      await put(aWebhook(1n));
      const filter = {
        accountId: null,
        actorId: null,
        action: 'webhook.test',
        subject: null,
        sinceMs: null,
        untilMs: null,
      };
      const audited = async () => (await directory().listAudit(filter, { before: null, limit: 9 })).length;
      expect([await test(10n, 1n), await audited()]).toEqual([1, 1]);
      expect([await test(11n, 5n), await audited()]).toEqual([0, 1]);
    });

    it('rests when everything is delivered, and wakes with the next event', async () => {
      await put(aWebhook(1n));
      await directory().emitEvent(anEvent(10n));
      await claim(1n);
      expect(await finish(10n, { ...DELIVERED, nextMs: NOON_MS + 200 }, NOON_MS + LEASE_MS)).toBeNull();
      expect(await directory().findDelivery(1n, 10n)).toMatchObject({
        state: 'delivered',
        attempts: 1,
        httpStatus: 204,
      });
      expect(await directory().dueWebhooks(NOON_MS + LEASE_MS, 5)).toEqual([]);
      await directory().emitEvent(anEvent(11n));
      expect(await directory().dueWebhooks(NOON_MS + 199, 5)).toEqual([]);
      expect(await directory().dueWebhooks(NOON_MS + 200, 5)).toMatchObject([{ id: 1n }]);
    });

    it('sends another event while one waits for its next attempt', async () => {
      await put(aWebhook(1n));
      await directory().emitEvent(anEvent(10n));
      await directory().emitEvent(anEvent(11n));
      await claim(1n);
      expect(await finish(10n, LATER, NOON_MS + LEASE_MS)).toBe(NOON_MS + 1_000);
      expect(await claim(1n, NOON_MS + 1_000)).toMatchObject({ delivery: { eventId: 11n } });
      expect(await finish(11n, DELIVERED, NOON_MS + 1_000 + LEASE_MS)).toBe(NOON_MS + 5_000);
      expect(await claim(1n, NOON_MS + 4_999)).toBeNull();
      expect(await claim(1n, NOON_MS + 5_000)).toMatchObject({ delivery: { eventId: 10n, attempts: 1 } });
    });

    it('sends a new event after its pause, although an earlier one waits much longer for its next attempt', async () => {
      await put(aWebhook(1n));
      await directory().emitEvent(anEvent(10n));
      await claim(1n);
      const later = { ...LATER, dueMs: NOON_MS + 4 * 3_600_000, nextMs: NOON_MS + 600_000 };
      expect(await finish(10n, later, NOON_MS + LEASE_MS)).toBe(later.dueMs);
      await directory().emitEvent(anEvent(11n, { createdMs: NOON_MS + 1_000 }));
      expect(await directory().dueWebhooks(later.nextMs - 1, 5)).toEqual([]);
      expect(await directory().dueWebhooks(later.nextMs, 5)).toMatchObject([{ id: 1n }]);
      expect(await claim(1n, later.nextMs)).toMatchObject({ delivery: { eventId: 11n } });
      await directory().emitEvent(anEvent(12n, { createdMs: later.nextMs + 1 }));
      expect(await claim(1n, later.nextMs + LEASE_MS - 1)).toBeNull();
      expect(await finish(11n, { ...DELIVERED, nextMs: later.nextMs + 200 }, later.nextMs + LEASE_MS)).toBe(
        later.nextMs + 200,
      );
    });

    it('sends what waits at once after its URL was changed, but not beside a process that sends to it', async () => {
      await put(aWebhook(1n));
      await directory().emitEvent(anEvent(10n));
      await claim(1n);
      const later = { ...LATER, dueMs: NOON_MS + 4 * 3_600_000, nextMs: NOON_MS + 600_000 };
      await finish(10n, later, NOON_MS + LEASE_MS);
      const changeAt = (atMs: number, url: string) =>
        directory().putWebhook(
          aWebhook(5n, { name: 'hook-1', url }),
          { id: 5n, sealed: Buffer.from('unused') },
          { ...audit('webhook.put'), atMs },
        );
      await changeAt(NOON_MS + 1, 'https://hooks.example/1');
      expect(await claim(1n, NOON_MS + 1)).toBeNull();
      expect(await changeAt(NOON_MS + 1, 'https://mended.example/')).toMatchObject({ webhook: { failures: 0 } });
      expect(await claim(1n, NOON_MS + 1)).toMatchObject({ delivery: { eventId: 10n, attempts: 1 } });
      await changeAt(NOON_MS + 2, 'https://mended.example/again');
      expect(await claim(1n, NOON_MS + LEASE_MS)).toBeNull();
      expect(await finish(10n, DELIVERED, NOON_MS + 1 + LEASE_MS)).toBeNull();
      await changeAt(NOON_MS + 3, 'https://mended.example/idle');
      expect(await directory().dueWebhooks(NOON_MS + 2 * LEASE_MS, 5)).toEqual([]);
    });

    it('is failing after a delivery was given up, until one succeeds', async () => {
      await put(aWebhook(1n));
      await directory().emitEvent(anEvent(10n));
      await finish(10n, { ...LATER, state: 'failed' });
      expect(await directory().findWebhook(1n, 'hook-1')).toMatchObject({ failures: 1, failingMs: NOON_MS });
      expect(await directory().countPending(null)).toBe(0);
      await directory().emitEvent(anEvent(11n));
      expect(await directory().countPending(1n)).toBe(1);
      await finish(11n, { ...DELIVERED, triedMs: NOON_MS + 7 }, LATER.nextMs);
      const healthy = { failures: 0, failingMs: null, deliveredMs: NOON_MS + 7 };
      expect(await directory().findWebhook(1n, 'hook-1')).toMatchObject(healthy);
    });

    it('keeps only the last finished deliveries', async () => {
      await put(aWebhook(1n));
      const kept = BigInt(LIMITS.webhookDeliveriesKept);
      for (let id = 1n; id <= kept + 3n; id++) {
        await directory().emitEvent(anEvent(id));
        await finish(id, DELIVERED, id === 1n ? 0 : NOON_MS);
      }
      const rows = await directory().listDeliveries(1n, { before: null, limit: 1000 });
      expect([rows.length, rows[0]!.eventId, rows.at(-1)!.eventId]).toEqual([Number(kept), kept + 3n, 4n]);
    });

    it('takes its deliveries and secrets with it when it is removed', async () => {
      await put(aWebhook(1n));
      await directory().emitEvent(anEvent(10n));
      const claimed = await claim(1n);
      expect(await directory().removeWebhook(1n, 'hook-1', audit('webhook.remove'))).toBe(true);
      expect(await directory().removeWebhook(1n, 'hook-1', audit('webhook.remove'))).toBe(false);
      expect(await finish(10n, DELIVERED, claimed!.leaseEndMs)).toBeNull();
      expect(await directory().webhookSecretsAfter(null, 10)).toEqual([]);
      expect(await directory().countPending(null)).toBe(0);
    });
  });
}
