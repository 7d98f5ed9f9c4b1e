import { Counter, Gauge, type Registry } from 'prom-client';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';

/** The current state of a host. */
export interface HostReading {
  readonly host: string;
  readonly state: string;
  readonly firstByteMs: number | null;
}

const EJECTION_CAUSES = ['failures', 'failure_rate', 'overruns'] as const;
const REFUSAL_KINDS = ['key', 'model', 'rate', 'request'] as const;
const STATES: readonly string[] = ['well', 'limited', 'ejected', 'key_refused', 'probing'];

/** Metrics per host. The label is bounded by the configured hosts. */
export class HostMetrics {
  readonly #ejections: Counter<'host' | 'cause'>;
  readonly #returns: Counter<'host'>;
  readonly #refusals: Counter<'host' | 'kind'>;
  readonly #retries: Counter<'host' | 'retry'>;

  constructor(registry: Registry, read: () => readonly HostReading[]) {
    const registers = [registry];
    this.#ejections = new Counter({
      name: 'tollgate_host_ejections_total',
      help: 'How often a host was ejected, and why.',
      labelNames: ['host', 'cause'],
      registers,
      collect() {
        for (const { host } of read()) for (const cause of EJECTION_CAUSES) this.inc({ host, cause }, 0);
      },
    });
    this.#returns = new Counter({
      name: 'tollgate_host_returns_total',
      help: 'How often a host came back after it had been ejected or its key refused.',
      labelNames: ['host'],
      registers,
    });
    this.#refusals = new Counter({
      name: 'tollgate_host_refusals_total',
      help: 'How often a host refused our key or a request, did not know a model, or was at its rate limit.',
      labelNames: ['host', 'kind'],
      registers,
      collect() {
        for (const { host } of read()) for (const kind of REFUSAL_KINDS) this.inc({ host, kind }, 0);
      },
    });
    this.#retries = new Counter({
      name: 'tollgate_host_retries_total',
      help: 'Calls sent to a host after another host had failed, as the first or the second retry.',
      labelNames: ['host', 'retry'],
      registers,
    });
    gaugeStates(registers, read);
    gaugeFirstBytes(registers, read);
  }

  ejected(host: string, cause: string): void {
    this.#ejections.inc({ host, cause });
  }

  returned(host: string): void {
    this.#returns.inc({ host });
  }

  refused(host: string, kind: (typeof REFUSAL_KINDS)[number]): void {
    this.#refusals.inc({ host, kind });
  }

  observe({ tries }: ExchangeRecord): void {
    if (tries === null) return;
    for (const [retry, { host }] of tries.entries()) {
      if (retry > 0) this.#retries.inc({ host, retry: retry === 1 ? 'first' : 'second' });
    }
  }
}

function gaugeStates(registers: Registry[], read: () => readonly HostReading[]): void {
  new Gauge({
    name: 'tollgate_host_state',
    help: 'One for the state a host is in, zero for the others.',
    labelNames: ['host', 'state'],
    // Workers share what they know about hosts.
    aggregator: 'first',
    registers,
    collect() {
      this.reset();
      for (const { host, state } of read())
        for (const one of STATES) this.set({ host, state: one }, one === state ? 1 : 0);
    },
  });
}

function gaugeFirstBytes(registers: Registry[], read: () => readonly HostReading[]): void {
  new Gauge({
    name: 'tollgate_host_first_byte_seconds',
    help: 'Recent average time until streams of a host begin.',
    labelNames: ['host'],
    aggregator: 'average',
    registers,
    collect() {
      this.reset();
      for (const { host, firstByteMs } of read()) if (firstByteMs !== null) this.set({ host }, firstByteMs / 1000);
    },
  });
}
