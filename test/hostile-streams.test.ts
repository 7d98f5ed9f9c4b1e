import { describe, expect, test } from 'vitest';
import { type StreamsReport, streamsCampaign } from '../campaigns/streams/campaign.ts';
import { CARRIAGES, SILENCES } from '../campaigns/streams/carriage.ts';
import { makeCase } from '../campaigns/streams/cases.ts';
import { SPOILS } from '../campaigns/streams/spoil.ts';
import { WHOLE_SPOILS } from '../campaigns/streams/whole.ts';
import { LANES } from '../campaigns/streams/world.ts';
import { seedFrom } from './random.ts';

/**
 * A malicious host, on every wire: whatever it sends, the gateway survives, the charge stays within the hold, no hold
 * stays open, and no client mistakes a broken stream for a complete one. `npm run campaign:streams` does 50,000.
 */

const SEED = seedFrom(process.env, 20_261_115);
const STREAMS = 135;
const SILENT = 15;
const MB = 1024 * 1024;

describe.each([
  ['on', true],
  ['off', false],
] as const)(`${STREAMS + SILENT} hostile streams, seed ${SEED}, frame memory %s,`, (_name, frameMemory) => {
  let report: StreamsReport;

  test('break nothing but themselves', async () => {
    report = await streamsCampaign({ seed: SEED, count: STREAMS, silent: SILENT, frameMemory });
    expect(report.faults).toEqual([]);
    expect(report.cases).toBe(STREAMS + SILENT);
  });

  test('are of both kinds: some end well for their client, more do not', () => {
    expect(report.endings.clean).toBeGreaterThan(25);
    expect(report.endings.error).toBeGreaterThan(50);
  });

  test('leave nothing behind in memory', () => {
    expect(report.heapGrowthBytes).toBeLessThan(20 * MB);
    expect(report.peakBytes).toBeLessThan(1024 * MB);
  });
});

describe('the cases', () => {
  const cases = Array.from({ length: 3_000 }, (_, number) => makeCase(1, number));

  test('are the same for the same seed', () => {
    const again = makeCase(1, 17);
    expect(again.script).toEqual(cases[17]!.script);
    expect(makeCase(2, 17).script).not.toEqual(again.script);
  });

  test('have every fault and take every way in some thousands', () => {
    const seen = new Set(cases.flatMap(({ spoil, carriage }) => [spoil, carriage]));
    const rare = (weight: number): boolean => weight < 0.3;
    const named = [...SPOILS, ...WHOLE_SPOILS, ...CARRIAGES].filter(({ weight }) => !rare(weight));
    expect(named.filter(({ name }) => !seen.has(name))).toEqual([]);
    expect(new Set(cases.map(({ lane }) => lane)).size).toBe(LANES.length);
    const silent = Array.from({ length: 200 }, (_, number) => makeCase(1, number, true).carriage);
    expect(new Set(silent).size).toBe(SILENCES.length);
  });
});
