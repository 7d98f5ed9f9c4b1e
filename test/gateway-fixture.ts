import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../src/accounts/authenticate.ts';
import type { GatewayError } from '../src/canonical/errors.ts';
import type { Receipt } from '../src/canonical/receipt.ts';
import { buildCatalog } from '../src/catalog/catalog.ts';
import type { ModelRow } from '../src/catalog/schema.ts';
import type { Custody } from '../src/custody/custody.ts';
import { MasterSealer, masterKey } from '../src/custody/seal.ts';
import type { Call } from '../src/gateway/call.ts';
import { exchange } from '../src/gateway/exchange.ts';
import type { ExchangeRecord } from '../src/gateway/exchange-record.ts';
import type { Gateway } from '../src/gateway/gateway.ts';
import { BodyBudgets } from '../src/gateway/guards/body-budgets.ts';
import { CallSlots, type SlotsPerKey } from '../src/gateway/guards/call-slots.ts';
import { DeploymentWork } from '../src/gateway/guards/deployment-work.ts';
import { KeptBudget } from '../src/gateway/guards/kept-budget.ts';
import { ResponseRoom, responseMemory } from '../src/gateway/guards/response-room.ts';
import type { RefusedCall } from '../src/gateway/refusal-log.ts';
import { RunningCalls } from '../src/gateway/running-calls.ts';
import { CATALOG_FACTORS } from '../src/gateway/token-factors.ts';
import { HostDirectory } from '../src/hosts/directory.ts';
import type { HealthSettings } from '../src/hosts/health-settings.ts';
import type { ConfiguredHost, HostRow } from '../src/hosts/host.ts';
import { HostsHealth } from '../src/hosts/hosts-health.ts';
import { HOST_ROWS } from '../src/hosts/rows.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { formatId, IdSource } from '../src/kit/ids.ts';
import { Secret } from '../src/kit/secret.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import type { PromptCount } from '../src/money/counted-bound.ts';
import { MemoryStore } from '../src/store/memory/memory-store.ts';
import { type AccountKind, type LedgerOperation, StoreUnavailable } from '../src/store/store.ts';
import { WIRES } from '../src/wires/registry.ts';
import { FakeHosts, type SentRequest } from './fake-hosts.ts';
import { FakeSink } from './fake-sink.ts';
import { anAccount, NOON_MS } from './store-fixtures.ts';

/** Our key for each of the fake hosts, which no caller may ever see. */
export const HOST_KEY = 'host-key-0123456789';

export const LIMITS_OF_CALLS = {
  firstFrameMs: 120_000,
  idleMs: 30_000,
  bufferedMs: 300_000,
  streamMs: 600_000,
  keepAliveMs: 15_000,
  stallMs: 60_000,
  drainMs: 30_000,
  hangupAllowanceNanousd: null,
  countAboveNanousd: 1_000_000_000_000n,
};

/** What the counter returns for a prompt of this many tokens. */
function promptOf(tokens: number): PromptCount {
  return { fixedTokens: 0, scaledTokens: tokens, likelyTokens: tokens, textTokens: tokens };
}

const HEALTH: HealthSettings = {
  consecutiveFailures: 3,
  failurePercent: 50,
  failureCallsMin: 100,
  windowMs: 60_000,
  ejectionMs: 10_000,
  ejectionMaxMs: 100_000,
  slowFirstByteMs: 30_000,
  limitedMs: 5000,
  limitedMaxMs: 60_000,
  keyAsideMs: 60_000,
  overruns: 3,
  retryPercent: 10,
};

/** Nanodollars per token of the model `ferry`, for callers. */
export const PRICE = { input: 10n, output: 20n };
const perMillion = (nanousd: bigint): number => Number(nanousd) * 1_000_000;

/** `ferry` has three hosts, `alpha` the cheapest; `raft` has one. */
const MODELS: readonly ModelRow[] = [
  {
    id: 'ferry',
    context_window: 1000,
    max_output_tokens: 500,
    caps: ['chat'],
    tokenizer: 'o200k_base',
    price: { input: perMillion(PRICE.input), output: perMillion(PRICE.output) },
    hosts: ['alpha', 'beta', 'gamma'].map((host, at) => ({
      host,
      model: `ferry-at-${host}`,
      price: { input: perMillion(1n) * (at + 1), output: perMillion(2n) * (at + 1) },
    })),
  },
  {
    id: 'raft',
    context_window: 1000,
    max_output_tokens: 500,
    caps: ['chat'],
    price: { input: perMillion(1n), output: perMillion(1n) },
    hosts: [{ host: 'alpha', model: 'raft' }],
  },
];

export interface GatewayOptions {
  readonly slots?: SlotsPerKey;
  readonly health?: Partial<HealthSettings>;
  /** Changes to the row of every host. */
  readonly row?: Partial<HostRow>;
  readonly creditNanousd?: bigint;
  /** What a tokenizer would count; null: it cannot. */
  readonly counted?: number | null;
  /** Prompts are counted only if their hold is refused by default. */
  readonly countAboveNanousd?: bigint;
  /** No limit by default. */
  readonly hangupAllowanceNanousd?: bigint;
  readonly accountKind?: AccountKind;
}

export type Body = Record<string, unknown> | string;

const ROW = HOST_ROWS.find(({ simulated }) => simulated)!;

/** A gateway in this process over the memory store, fake hosts and a clock that stands still: no port, no file. */
export class GatewayFixture {
  readonly clock = new ManualClock(NOON_MS);
  /** What happened, in order: hold, send, head, settle, end. An entry of the ledger is noted when it is durable. */
  readonly trace: string[] = [];
  readonly hosts = new FakeHosts(this.trace);
  readonly records: ExchangeRecord[] = [];
  readonly refusals: (RefusedCall & { readonly error: GatewayError })[] = [];
  readonly store = new MemoryStore(this.clock);
  readonly #ids = new IdSource(this.clock, 1);
  readonly #failing = new Map<LedgerOperation['kind'], number>();
  ledger!: Ledger;
  gateway!: Gateway;
  caller: Caller = { accountId: 1n, keyId: null, key: null };

  static async open(options: GatewayOptions = {}): Promise<GatewayFixture> {
    const fixture = new GatewayFixture();
    await fixture.#build(options);
    return fixture;
  }

  async #build(options: GatewayOptions): Promise<void> {
    const { clock, store } = this;
    await store.createAccount(anAccount(1n, { kind: options.accountKind ?? 'prepaid' }));
    const { epoch } = await store.beginInstance();
    this.ledger = new Ledger({ store, clock, epoch });
    const amountNanousd = options.creditNanousd ?? 1_000_000n;
    await this.ledger.credit({
      id: this.#ids.next(),
      accountId: 1n,
      amountNanousd,
      reference: 'r',
      note: null,
      createdMs: NOON_MS,
    });
    this.#watchStore();
    const catalog = buildCatalog({ rows: MODELS, hosts: new Set(['alpha', 'beta', 'gamma']), version: '2026-01-01-x' });
    const priceId = await store.registerPrices(catalog.priceVersion, catalog.pricesJson);
    const health = new HostsHealth({ ...HEALTH, ...options.health }, clock, () => {});
    const directory = new HostDirectory(
      ['alpha', 'beta', 'gamma'].map((name) => configured(name, options.row)),
      () => this.hosts,
      health,
    );
    const { counted = null } = options;
    this.gateway = {
      tracing: null,
      deploymentWork: new DeploymentWork(clock),
      answers: responseMemory(),
      bodyBudgets: new BodyBudgets({ bodyBytesPerSecond: null, jsonMembersPerSecond: null }, clock),
      clock,
      ids: this.#ids,
      ledger: this.ledger,
      sealer: new MasterSealer([masterKey(randomBytes(32))]),
      keptBudget: new KeptBudget({ clock }),
      custody: { has: async () => false, open: async () => null } as unknown as Custody,
      countTokens: { count: async () => (counted === null ? null : promptOf(counted)) },
      tokenFactors: CATALOG_FACTORS,
      usage: store.usage,
      refusals: { refused: (call, error) => void this.refusals.push({ ...call, error }) },
      observe: (record) => void this.records.push(record),
      limits: {
        ...LIMITS_OF_CALLS,
        hangupAllowanceNanousd: options.hangupAllowanceNanousd ?? null,
        countAboveNanousd: options.countAboveNanousd ?? LIMITS_OF_CALLS.countAboveNanousd,
      },
      frameMemory: true,
      runningCalls: new RunningCalls(),
      slots: new CallSlots(options.slots ?? { calls: null, streams: null }),
      prices: () => ({ catalog, priceId }),
      hosts: () => directory,
      health,
    };
  }

  /** Notes what is durable, and fails the writes that a test wants to fail. */
  #watchStore(): void {
    const apply = this.store.apply.bind(this.store);
    this.store.apply = async (operations) => {
      for (const { kind } of operations) {
        const left = this.#failing.get(kind) ?? 0;
        if (left === 0) continue;
        this.#failing.set(kind, left - 1);
        throw new StoreUnavailable('The store is unreachable.');
      }
      const outcomes = await apply(operations);
      const notes = outcomes.map(({ kind }, at) => (kind === 'hold_refused' ? kind : operations[at]!.kind));
      this.trace.push(...notes);
      return outcomes;
    };
  }

  /** The next `times` writes of this kind fail as if the store were unreachable. */
  failWrites(kind: LedgerOperation['kind'], times = 1): void {
    this.#failing.set(kind, times);
  }

  call(body: Body = ask(), headers: IncomingHttpHeaders = {}, more: Partial<Call> = {}): Call {
    const id = this.#ids.next();
    return {
      id,
      requestId: formatId('req_', id),
      route: '/v1/chat/completions',
      wire: WIRES.chat!,
      caller: this.caller,
      headers,
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      startedMs: this.clock.monotonicMs(),
      ...more,
    };
  }

  sink(): FakeSink {
    return new FakeSink(this.trace);
  }

  /** Begins an exchange; the host's part is up to the test. */
  begin(body: Body = ask(), headers: IncomingHttpHeaders = {}): Begun {
    const sink = this.sink();
    const call = this.call(body, headers);
    // Calls without a key are counted for no account.
    sink.room = new ResponseRoom(this.gateway.answers, { ...call.caller, keyId: 1n });
    const done = exchange(this.gateway, call, sink);
    const ended = done.then((): never => {
      throw new Error(`The call ended without asking a host: ${sink.text}`);
    });
    ended.catch(() => {});
    return { sink, call, done, asked: () => Promise.race([this.hosts.next(), ended]) };
  }

  async receipt({ id }: Pick<Call, 'id'>): Promise<Receipt> {
    const receipt = await this.store.findReceipt(id, null);
    if (receipt === null) throw new Error('There is no receipt.');
    return receipt;
  }

  async balanceNanousd(): Promise<bigint> {
    return (await this.store.findAccount(1n))!.balanceNanousd;
  }

  async heldNanousd(): Promise<bigint> {
    return (await this.store.findAccount(1n))!.heldNanousd;
  }
}

interface Begun {
  readonly sink: FakeSink;
  readonly call: Call;
  readonly done: Promise<void>;
  /** The next request to a host; fails if the call ends without one. */
  asked(): Promise<SentRequest>;
}

/** A request of the chat wire for 100 tokens of the model `ferry`. */
export function ask(more: Record<string, unknown> = {}): Record<string, unknown> {
  return { model: 'ferry', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...more };
}

function configured(name: string, more: Partial<HostRow> = {}): ConfiguredHost {
  const row: HostRow = { ...ROW, name, baseUrl: `https://${name}/v1`, simulated: false, ...more };
  return { row, key: new Secret(HOST_KEY), keySource: null, local: false, models: [] };
}
