import { idFloorAt } from '../kit/ids.ts';
import { LIMITS } from '../limits.ts';
import { formatDollars } from '../money/nanousd.ts';
import type { AlertStore, Checked } from './alerts.ts';

const HOUR_MS = 3_600_000;

/** A host as its health sees it. */
export interface HostState {
  readonly host: string;
  readonly state: string;
  /** It refuses requests, probably because our account there cannot pay. */
  readonly isRefusing: boolean;
}

export function checkDisk(freeBytes: number, minBytes: number, machine: string): Checked {
  const condition = `disk:${machine}`;
  if (freeBytes >= minBytes) return { findings: [], cleared: [condition] };
  const megabytes = Math.floor(freeBytes / 1024 / 1024);
  const finding = {
    condition,
    kind: 'disk',
    accountId: null,
    subject: machine,
    message: `The disk of the data folder on ${machine} has ${megabytes} MB left; below ${LIMITS.diskFreeBytesMin / 1024 / 1024} MB calls are refused.`,
    figures: { free_bytes: freeBytes, below_bytes: minBytes },
  } as const;
  return { findings: [finding], cleared: [] };
}

const HOST_FAULTS: Readonly<Record<string, string>> = {
  ejected: 'fails, so it is not called for now.',
  key_refused: 'refuses our key, so it is not called for now.',
  refusing: 'refuses every request with 402 or 403. Perhaps our account there has no credit, or lacks a permission.',
};

/** Hosts that are not called because they fail or refuse our key, and hosts that refuse every request. */
export function checkHosts(hosts: readonly HostState[]): Checked {
  const faults = hosts.map(({ host, state, isRefusing }) => ({
    host,
    state: isRefusing && !Object.hasOwn(HOST_FAULTS, state) ? 'refusing' : state,
  }));
  return {
    findings: faults
      .filter(({ state }) => Object.hasOwn(HOST_FAULTS, state))
      .map(({ host, state }) => ({
        condition: `host:${host}`,
        kind: 'host',
        accountId: null,
        subject: host,
        message: `The host "${host}" ${HOST_FAULTS[state]}`,
        figures: { state },
      })),
    cleared: faults.filter(({ state }) => state === 'well').map(({ host }) => `host:${host}`),
  };
}

/** The hours with calls from `fromMs` on, the present one last, but no earlier one than that before it. */
export function lossHours(fromMs: number, nowMs: number): readonly number[] {
  const hourMs = hourOf(nowMs);
  return hourOf(fromMs) < hourMs ? [hourMs - HOUR_MS, hourMs] : [hourMs];
}

/** Adds up what the calls of an hour may cost the operator, from their rows, in slices with a pause between them. */
export async function checkLosses(
  store: AlertStore,
  aboveNanousd: bigint,
  hourMs: number,
  pause: () => Promise<void>,
): Promise<Checked> {
  const lastId = idFloorAt(hourMs + HOUR_MS);
  let lossNanousd = 0n;
  let after: bigint | null = idFloorAt(hourMs);
  while (after !== null) {
    const slice = await store.lossesBetween(after, lastId, LIMITS.alertLossRows);
    lossNanousd += slice.lossNanousd;
    after = slice.next;
    if (after !== null) await pause();
  }
  if (lossNanousd <= aboveNanousd) return { findings: [], cleared: [] };
  const hour = new Date(hourMs).toISOString().slice(0, 13);
  const finding = {
    condition: lossCondition(hourMs),
    kind: 'losses',
    accountId: null,
    subject: hour,
    message: `For calls since ${hour}:00 UTC, hosts may bill up to ${formatDollars(lossNanousd)} that nobody is charged for.`,
    figures: { loss_nanousd: lossNanousd, above_nanousd: aboveNanousd },
  } as const;
  return { findings: [finding], cleared: [] };
}

function lossCondition(hourMs: number): string {
  return `losses:${hourMs}`;
}

/** The alert of an earlier hour is over. */
export function isPastHour(condition: string, nowMs: number): boolean {
  return condition.startsWith('losses:') && condition !== lossCondition(hourOf(nowMs));
}

function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS) * HOUR_MS;
}
