import { describe, expect, it } from 'vitest';
import { LIMITS } from '../src/limits.ts';
import type { AlertSettings, NewAlert } from '../src/store/alerts.ts';
import type { Directory } from '../src/store/directory.ts';
import { audit } from './people-fixtures.ts';
import { aCredit, aHold, anAccount, aSettle, NOON_MS, type OpenStore } from './store-fixtures.ts';
import { StoreSubject } from './store-subject.ts';

const HOUR_MS = 3_600_000;
const ALL = { accountId: null, kind: null, open: false, unacknowledged: false };

function anAlert(id: bigint, over: Partial<NewAlert> = {}): NewAlert {
  return {
    id,
    condition: 'balance:1',
    kind: 'balance',
    accountId: 1n,
    subject: 'acct_1',
    message: `message ${id}`,
    dataJson: '{"balance_nanousd":1}',
    createdMs: NOON_MS,
    ...over,
  };
}

/** Alerts, the same on both engines. */
export function alertContract(name: string, open: OpenStore): void {
  describe(`alert contract: ${name}`, () => {
    const subject = new StoreSubject(open);
    const directory = (): Directory => subject.store.directory;
    const list = async (over = {}) =>
      (await directory().listAlerts({ ...ALL, ...over }, { before: null, limit: 50 })).map(({ id }) => id);

    it('is stored once while its condition holds, however many raise it at the same time', async () => {
      const raised = await Promise.all([1n, 2n, 3n].map((id) => directory().raiseAlert(anAlert(id), 0)));
      expect(raised.toSorted()).toEqual(['open', 'open', 'raised']);
      expect(await list()).toHaveLength(1);
      expect(await directory().openConditions(['balance:1', 'balance:2'])).toEqual(['balance:1']);
      expect(await directory().openConditions([])).toEqual([]);
    });

    it('is raised again after it was resolved, unless that was a moment ago', async () => {
      await directory().raiseAlert(anAlert(1n), 0);
      expect(await directory().resolveAlert('balance:1', NOON_MS + 1)).toBe(true);
      expect(await directory().resolveAlert('balance:1', NOON_MS + 2)).toBe(false);
      expect(await directory().findAlert(1n)).toMatchObject({ resolvedMs: NOON_MS + 1, message: 'message 1' });
      const soon = anAlert(2n, { createdMs: NOON_MS + HOUR_MS - 1 });
      expect(await directory().raiseAlert(soon, HOUR_MS)).toBe('reopened');
      expect(await directory().findAlert(1n)).toMatchObject({ resolvedMs: null });
      await directory().resolveAlert('balance:1', NOON_MS + HOUR_MS);
      const later = anAlert(3n, { createdMs: NOON_MS + HOUR_MS });
      expect(await directory().raiseAlert(later, HOUR_MS)).toBe('raised');
      expect(await list()).toEqual([3n, 1n]);
      expect(await list({ open: true })).toEqual([3n]);
    });

    it('was last seen when it was raised, or when it was confirmed while open', async () => {
      await directory().raiseAlert(anAlert(1n), 0);
      await directory().raiseAlert(anAlert(2n, { condition: 'balance:2' }), 0);
      await directory().confirmAlerts(['balance:1', 'balance:3'], NOON_MS + 5);
      await directory().confirmAlerts([], NOON_MS + 6);
      const seen = async () => [(await directory().findAlert(1n))?.seenMs, (await directory().findAlert(2n))?.seenMs];
      expect(await seen()).toEqual([NOON_MS + 5, NOON_MS]);
      await directory().resolveAlert('balance:1', NOON_MS + 7);
      await directory().confirmAlerts(['balance:1'], NOON_MS + 8);
      expect(await seen()).toEqual([NOON_MS + 5, NOON_MS]);
    });

    it('tells the webhooks of its account and of the operator, in the same commit, once', async () => {
      const hook = { id: 5n, accountId: 1n, name: 'a', url: 'https://a.example/', events: null, createdMs: NOON_MS };
      const secret = (id: bigint) => ({ id, sealed: Buffer.from('s') });
      await directory().putWebhook(hook, secret(50n), audit('webhook.put'));
      await directory().putWebhook({ ...hook, id: 6n, accountId: null }, secret(60n), audit('webhook.put'));
      await directory().raiseAlert(anAlert(1n), 0);
      await directory().raiseAlert(anAlert(2n), 0);
      await directory().raiseAlert(anAlert(3n, { condition: 'host:x', kind: 'host', accountId: null }), 0);
      const page = { before: null, limit: 9 };
      expect(await directory().listDeliveries(5n, page)).toMatchObject([{ eventId: 1n, type: 'alert.balance' }]);
      expect((await directory().listDeliveries(6n, page)).map(({ type }) => type)).toEqual([
        'alert.host',
        'alert.balance',
      ]);
    });

    it('is acknowledged once, and listed by account, kind and state', async () => {
      await directory().raiseAlert(anAlert(1n), 0);
      await directory().raiseAlert(anAlert(2n, { condition: 'disk:a', kind: 'disk', accountId: null }), 0);
      const acknowledge = (by: string) => directory().acknowledgeAlert(1n, by, NOON_MS, audit('alert.acknowledge'));
      expect(await acknowledge('ada')).toMatchObject({ acknowledgedBy: 'ada', acknowledgedMs: NOON_MS });
      expect(await acknowledge('bob')).toMatchObject({ acknowledgedBy: 'ada' });
      expect(await directory().acknowledgeAlert(9n, 'ada', NOON_MS, audit('alert.acknowledge'))).toBe('not_found');
      expect(await list({ accountId: 1n })).toEqual([1n]);
      expect(await list({ kind: 'disk' })).toEqual([2n]);
      expect(await list({ unacknowledged: true })).toEqual([2n]);
      expect((await directory().openAlerts({ after: 1n, limit: 9 })).map(({ id }) => id)).toEqual([2n]);
    });

    it('is forgotten when it is old and resolved', async () => {
      await directory().raiseAlert(anAlert(1n), 0);
      await directory().raiseAlert(anAlert(2n, { condition: 'balance:2' }), 0);
      await directory().resolveAlert('balance:1', NOON_MS);
      expect(await directory().forgetAlerts(NOON_MS)).toBe(0);
      expect(await directory().forgetAlerts(NOON_MS + 1)).toBe(1);
      expect(await list()).toEqual([2n]);
      expect(LIMITS.alertsKept).toBeGreaterThan(1000);
    });

    it('has settings per account, which are empty at first', async () => {
      expect(await directory().alertSettings(1n)).toEqual({ balanceBelowNanousd: null, capPercent: null });
      const settings = { balanceBelowNanousd: 5_000_000_000n, capPercent: 90 };
      await directory().putAlertSettings(1n, settings, audit('alerts.change'));
      await directory().putAlertSettings(1n, { ...settings, capPercent: 0 }, audit('alerts.change'));
      expect(await directory().alertSettings(1n)).toEqual({ ...settings, capPercent: 0 });
    });

    it('changes settings only if they are still those that are known', async () => {
      const none = { balanceBelowNanousd: null, capPercent: null };
      const settings = { balanceBelowNanousd: 5_000_000_000n, capPercent: 90 };
      const put = (known: AlertSettings) =>
        directory().putAlertSettings(1n, { ...settings, capPercent: 50 }, audit('alerts.change'), known);
      expect(await put(settings)).toBe('changed');
      expect(await directory().alertSettings(1n)).toEqual(none);
      expect(await directory().putAlertSettings(1n, settings, audit('alerts.change'), none)).toBe('stored');
      for (const known of [none, { ...settings, capPercent: null }, { ...settings, balanceBelowNanousd: 0n }])
        expect(await put(known)).toBe('changed');
      expect(await directory().alertSettings(1n)).toEqual(settings);
      expect(await put(settings)).toBe('stored');
      expect(await directory().alertSettings(1n)).toEqual({ ...settings, capPercent: 50 });
    });

    it('is counted with the balances and the holds of all accounts', async () => {
      await subject.store.createAccount(anAccount(2n));
      await subject.store.createAccount(anAccount(3n, { kind: 'unlimited' }));
      await subject.store.apply([aCredit(1n, 1_000n), { ...aCredit(2n, 500n), accountId: 2n, reference: 'two' }]);
      await subject.store.apply([aHold(11n, 300n), aHold(12n, 40n, { accountId: 3n })]);
      await subject.store.apply([aSettle(12n, 40n)]);
      await directory().raiseAlert(anAlert(1n), 0);
      expect(await directory().bookSums()).toEqual({
        balanceNanousd: 1_500n,
        heldNanousd: 300n,
        reservedNanousd: 0n,
        openAlerts: 1,
        waitingDeliveries: 0,
      });
    });

    it('adds up losses in slices', async () => {
      await subject.store.apply([aCredit(1n, 1_000n)]);
      for (let id = 1n; id <= 5n; id++)
        await subject.store.apply([aHold(id, 10n), aSettle(id, 1n, { lossNanousd: id, lossReason: 'a reason' })]);
      await subject.store.apply([aHold(6n, 10n)]);
      const slices = [];
      let after: bigint | null = 0n;
      while (after !== null && slices.length < 9) {
        const slice: { lossNanousd: bigint; next: bigint | null } = await directory().lossesBetween(after, 9n, 2);
        slices.push(slice.lossNanousd);
        after = slice.next;
      }
      expect(slices).toEqual([3n, 7n, 5n, 0n]);
      expect(await directory().lossesBetween(3n, 9n, 100)).toEqual({ lossNanousd: 9n, next: null });
      expect(await directory().lossesBetween(0n, 3n, 100)).toEqual({ lossNanousd: 6n, next: null });
    });
  });
}
