import { beforeAll, describe, expect, test } from 'vitest';
import { CLASSES, faultsOf, growthBytes, hostileCampaign, type Report } from '../campaigns/http/campaign.ts';
import { seedFrom } from './random.ts';
import { TRANSPORTS } from './transports.ts';

/** A short run of `npm run campaign:http`: the same attacks, fewer of them. */

/** To each transport. */
const REQUESTS = 1_500;
const SEED = seedFrom(process.env, 20_261_116) % 1_000_000;

describe.each(TRANSPORTS)(
  `of ${REQUESTS} malformed or hostile requests to the %s transport (TOLLGATE_SEED=${SEED})`,
  (transport) => {
    let report: Report;

    beforeAll(async () => {
      report = await hostileCampaign({ transport, requests: REQUESTS, warmUp: 500, seed: SEED, connections: 24 });
    }, 300_000);

    test('none was answered with a fault of ours, with what it had no right to, or not at all', () => {
      expect(report.faults).toEqual([]);
    });

    test('all were sent, of every kind', () => {
      const sent = [...report.classes].map(([name, figures]) => [name, figures.sent] as const);
      expect(sent.reduce((sum, [, count]) => sum + count, 0)).toBe(REQUESTS);
      expect(sent).toHaveLength(CLASSES.length);
      const rare = new Set(CLASSES.filter(({ weight }) => weight < 1).map(({ name }) => name));
      expect(sent.filter(([name, count]) => count === 0 && !rare.has(name))).toEqual([]);
    });

    test('some were good, and were served among the others', () => {
      expect(report.classes.get('valid calls')!.statuses.get(200)).toBeGreaterThan(0);
      expect(report.end.receipts).toBeGreaterThan(0);
    });

    test('none brought the gateway down, left a hold or a call behind, or made it speak of an error', () => {
      expect([report.crashed, report.ended]).toEqual([false, true]);
      expect(report.end).toMatchObject({ openHolds: 0, callsUnderWay: 0, violations: [], errors: [] });
    });

    test('memory after a collection is within 20 MB of what it was after the warm-up', () => {
      expect(growthBytes(report)).toBeLessThan(20 * 1024 * 1024);
      expect(faultsOf(report)).toEqual([]);
    });
  },
);
