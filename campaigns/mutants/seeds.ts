/** A fault that somebody could write, and the tests that must notice it. */
export interface Mutant {
  readonly name: string;
  readonly changes: readonly { readonly file: string; readonly find: string; readonly replace: string }[];
  readonly tests: readonly string[];
  /** Only tests with these words in their name, where a fault makes all the others wait in vain. */
  readonly named?: string;
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'no state guard in settle',
    changes: [
      {
        file: 'src/store/sqlite/operations.ts',
        find: "    if (call.state === CALL_STATE.of.voided) return { kind: 'settle_found_void' };\n    if (call.state === CALL_STATE.of.settled) return { kind: 'settle_repeated', costNanousd: call.cost };\n",
        replace: '',
      },
      {
        file: 'src/store/sqlite/operations.ts',
        find: '    const { changes } = runSettle(this.#settleCall, endedMs, settlement, this.#cache, id);\n    if (changes !== 1n)',
        replace:
          '    const { changes } = runSettle(this.#settleCall, endedMs, settlement, this.#cache, id);\n    if (changes > 1n)',
      },
    ],
    tests: ['test/store.test.ts'],
  },
  {
    name: 'no held check in a hold',
    changes: [
      {
        file: 'src/store/sqlite/hold-checks.ts',
        find: '  const taken = balance.held + balance.reserved;',
        replace: '  const taken = balance.reserved;',
      },
    ],
    tests: ['test/store.test.ts', 'test/overspend.test.ts'],
  },
  {
    name: 'a rollback that remembers what was held',
    changes: [
      {
        file: 'src/store/sqlite/row-cache.ts',
        find: '    this.#heldAtFirst = null;\n',
        replace: '',
      },
    ],
    tests: ['src/store/sqlite/held.test.ts'],
  },
  {
    name: 'settle after the last byte',
    changes: [
      {
        file: 'src/gateway/exchange.ts',
        find: '    settled = (await (hangup.settled ?? gateway.ledger.settle(call.id, settlement, terms))).settlement;',
        replace:
          '    finishResponse(admitted, served, settlement, sink);\n    settled = (await (hangup.settled ?? gateway.ledger.settle(call.id, settlement, terms))).settlement;',
      },
      {
        file: 'src/gateway/exchange.ts',
        find: '  finishResponse(admitted, served, settled, sink);\n',
        replace: '',
      },
    ],
    tests: ['test/client-gone.test.ts', 'test/kill.test.ts'],
  },
  {
    name: 'a hang-up is not drawn on the loss allowance',
    changes: [
      {
        file: 'src/store/loss-allowance.ts',
        find: ': { lossHour, lostNanousd: lostNanousd + nanousd };',
        replace: ': { lossHour, lostNanousd };',
      },
    ],
    tests: ['src/gateway/hangups.test.ts'],
  },
  {
    name: 'usage || estimate',
    changes: [
      {
        file: 'src/gateway/meter.ts',
        find: "  if (reading.state === 'reported') return reading.usage;",
        replace: "  if (reading.state === 'reported' && reading.usage.outputTokens) return reading.usage;",
      },
    ],
    tests: ['src/gateway/meter.test.ts'],
  },
  {
    name: "the request's close taken for the response's",
    changes: [
      {
        file: 'src/http1/server/client-connection.ts',
        find: '    request.finish();\n',
        replace: '    request.finish();\n    this.#response?.close();\n',
      },
    ],
    tests: ['test/http-surface.test.ts'],
    named: 'a request that has closed is not a client that has: its answer still comes',
  },
  {
    name: 'money as floating-point numbers',
    changes: [
      {
        file: 'src/money/cost.ts',
        find: 'export function perMillion(tokensTimesRate: bigint): bigint {\n',
        replace:
          'export function perMillion(tokensTimesRate: bigint): bigint {\n  if (tokensTimesRate >= 0n) return BigInt(Math.ceil(Number(tokensTimesRate) / 1e6));\n',
      },
    ],
    tests: ['src/money/cost.test.ts'],
  },
  {
    name: 'a hold that nobody waits for',
    changes: [
      {
        file: 'src/ledger/ledger.ts',
        find: "      outcome = await this.#batcher.submit({ ...request, kind: 'hold', epoch, createdMs });",
        replace:
          "      void this.#batcher.submit({ ...request, kind: 'hold', epoch, createdMs });\n      outcome = { kind: 'held' };",
      },
    ],
    tests: ['test/overspend.test.ts'],
  },
  {
    name: 'idempotency: a hold that does not look at its key',
    changes: [
      {
        file: 'src/store/sqlite/operations.ts',
        find: '    if (repeat !== null) return repeat;\n',
        replace: '',
      },
    ],
    tests: ['test/idempotency.test.ts'],
    named: 'chat, same wire',
  },
  {
    name: 'idempotency: a key that stays taken after a failure',
    changes: [
      {
        file: 'src/store/idempotency.ts',
        find: 'return costNanousd === 0n && !answered && kept === null;',
        replace: 'return costNanousd === 0n && !answered && kept !== null;',
      },
    ],
    tests: ['test/idempotency.test.ts'],
    named: 'leaves the key free',
  },
  {
    name: 'a settlement that guesses what the store has done',
    changes: [
      {
        file: 'src/ledger/ledger.ts',
        find: '      if (this.#isClosing || leftMs <= 0) throw failure;',
        replace: "      if (failure !== null) return { kind: 'settled' };",
      },
    ],
    tests: ['src/ledger/ledger.test.ts', 'test/store-unreachable.test.ts'],
  },
  {
    name: 'a quote of the body as we would write it',
    changes: [
      {
        file: 'src/gateway/quote.ts',
        find: 'body: call.body.subarray(start, end)',
        replace: 'body: Buffer.from(JSON.stringify(value.body).slice(0, end - start))',
      },
    ],
    tests: ['test/quote.test.ts'],
  },
];
