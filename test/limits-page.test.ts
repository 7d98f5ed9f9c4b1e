import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { configFileSchema } from '../src/config/schema.ts';
import { LIMITS } from '../src/limits.ts';

/** Compares docs/limits.md with the limits in force: every row has its limit, and every limit has a row or is in the list below. */

const PAGE = readFileSync(new URL('../docs/limits.md', import.meta.url), 'utf8');

interface Row {
  readonly value: string;
  readonly name: string;
}

const ROWS: readonly Row[] = [...PAGE.matchAll(/^\| .+ \| (.+) \| .* \| `([\w.]+)` \|$/gm)].map(([, value, name]) => ({
  value: value!,
  name: name!,
}));

/** Times in milliseconds or seconds, sizes in KB or MB, all else as a number. */
function written(name: string, value: number | null): string {
  if (value === null) return 'none';
  const [number, unit] = measured(name, value);
  return `${number.toLocaleString('en-US')}${unit}`;
}

function measured(name: string, value: number): [number, string] {
  if (/(Ms|_ms)$/.test(name)) return value % 1000 === 0 ? [value / 1000, ' s'] : [value, ' ms'];
  if (!/Bytes/.test(name)) return [value, ''];
  return value % (1024 * 1024) === 0 ? [value / 1024 / 1024, ' MB'] : [value / 1024, ' KB'];
}

function inForce(name: string): number | null | undefined {
  if (!name.includes('.')) return (LIMITS as Readonly<Record<string, number>>)[name];
  const [group, field] = name.split('.') as [string, string];
  const config = configFileSchema.parse({}) as unknown as Record<string, Record<string, number | null>>;
  return config[group]?.[field];
}

test.each(ROWS)('$name is $value', ({ name, value }) => {
  const limit = inForce(name);
  expect(limit, 'The row names no limit: take it out.').not.toBeUndefined();
  expect(value).toBe(written(name, limit!));
});

test('every time, rate and load that the config file sets has a row', () => {
  const { limits, rate_limit, load_limits } = configFileSchema.parse({});
  const names = Object.entries({ limits, rate_limit, load_limits }).flatMap(([group, fields]) =>
    Object.keys(fields).map((field) => `${group}.${field}`),
  );
  const rows = ROWS.map(({ name }) => name);
  expect(
    names.filter((name) => !rows.includes(name)),
    'Add a row to docs/limits.md.',
  ).toEqual([]);
});

/** Internal limits that never cause a refusal; src/limits.ts says what each is for. */
const INSIDE =
  /^(store|copy|sim|trace[A-Z]|postgres|instance|cached|folder|token[A-Z]|prompt|message|part|plain|framing|tool(Bytes|Framing|Preamble)|(bash|textEditor|memory|computer)Tool|operator|archive|verbChars|socket|bookkeeping|closing|hostError|localHost|callerUrl|callerOrigin|callerAnswer|idempotency(Kept|Sweep)|master|seal|unreadable|host(Json|Keep|Probe|Header|Linger|Models|Connect|Name|Fields))/;
const INSIDE_BY_NAME = [
  'managementSecretCharsMax',
  ...['usagePartRowsMax', 'refusalsWaitingMax', 'refusalsWaitingPerAccountMax', 'refusalCountsMax'],
  ...['managementUseMs', 'receiptFeedChannelsMax'],
  'keyUseMs',
  'accountClosePollMs',
  ...[
    'sessionUseMs',
    'sessionUserAgentCharsMax',
    'signInCountersMax',
    'signInKnownClientsMax',
    'ssoRequestMs',
    'ssoSkewMs',
    'ssoDiscoveryMs',
    'ssoUsedStatesMax',
  ],
  ...[
    'webhookPollMs',
    'webhookDueRows',
    'webhookDueRowsFactor',
    'webhookDueRowsMax',
    'webhookAnswerBytesMax',
    'webhookLeaseMs',
    'webhookPauseMaxMs',
  ],
  ...['webhookRetryFirstMs', 'webhookRetryFactor', 'webhookRetryLastMs'],
  ...['alertRoundRows', 'alertChangesMax', 'alertSweepMs', 'alertSweepRows', 'alertLossesMs', 'alertLossRows'],
  ...['alertLossPauseMs', 'alertLossesQuietMs', 'alertOrphanMs', 'alertConfirmMs', 'bookSumsMs'],
  ...['jobStageRowsMax', 'jobStageBytesMax', 'statementsKept', 'jobSliceLinesMax', 'jobRestFactor', 'jobRestMaxMs'],
  ...['jobChunkBytesMax', 'jobSweepRows', 'jobSealRotationChunks', 'jobSliceBytesMax', 'jobRetryMs'],
  ...[
    'jobRetryMaxMs',
    'jobModelRetryMs',
    'jobWorkerPollMs',
    'jobLeaseMs',
    'jobBlockedMs',
    'jobAccountsAtOnce',
    'jobWaitPollMs',
  ],
  ...[
    'jobCancelTurnsMax',
    'jobActivationsMax',
    'jobSweepMs',
    'jobSweepStepsMax',
    'jobTurnMs',
    'jobBusyPauseMs',
    'jobLagMs',
  ],
  'jobPriceListsKept',
  ...['groupUnreadBytesMax', 'jobClientSilenceMs', 'jobUploadAttemptsMax', 'jobPollMs'],
  ...['jobPollMissesMax', 'jobEventsAtOnce'],
  ...['workerWindowBytes', 'workerLogMs', 'workerPayersMs', 'workerStartMs', 'workerMetricsMs'],
  'unreadRequestBytesMax',
  'storeTickMs',
  'storeLogIdleTicks',
  ...['frameMetadataBytesMax', 'frameExtraBytesMax', 'frameOpeningBytesMax'],
  'descriptorsAssumed',
  'socketReadBytes',
  ...['responseJoinedBytesMax', 'wholeStreamKeptMs'],
  ...['admissionFreshMs', 'admissionProbeMs', 'clockBehindMs', 'clockCheckMs'],
  ...['ledgerBatchMax', 'ledgerBatchesInFlightMax', 'ledgerQueueMax', 'settleRetryMs', 'outputItemsMax'],
  ...['modelAliasesMax', 'priceTiersMax', 'rateNanousdPerMillionMax', 'lossNanousdMax', 'usageTokensMax'],
  ...['providerKeyFileBytesMax', 'deploymentWorkFreeBytes', 'deploymentWorkBurstS', 'keyVerificationWorkMax'],
  ...['configProblemsMax', 'variableNameCharsMax', 'unknownContextWindowTokens', 'keyLookupsMax', 'keyPollMs'],
  ...['keyPollRoundsMax', 'keyMissMs', 'keyRefreshWaitMs', 'retriesSavedMax', 'tryOutcomeCharsMax'],
  ...[
    'forgottenBodyBytesMax',
    'connectionsCheckMs',
    'rateLimitedKeysMax',
    'limitedIdsMax',
    'loadSampleMs',
    'responsePieceBytes',
  ],
  ...['hostRefusalsInARow', 'hostRefusalAccounts', 'hostRefusalPauseMs', 'hostRefusalsToReport'],
  ...['callIdCharsMin', 'callIdCharsMax'],
  ...[
    'shutdownReadMs',
    'filePathCharsMax',
    'rateDebtBursts',
    'requestShareMs',
    'requestCountMs',
    'requestSweepExchanges',
  ],
];

test('every limit has a row, or is one that nobody meets', () => {
  const rows = ROWS.map(({ name }) => name);
  const missing = Object.keys(LIMITS).filter(
    (name) => !rows.includes(name) && !INSIDE.test(name) && !INSIDE_BY_NAME.includes(name),
  );
  expect(
    missing,
    'Can a caller or an operator meet it? Then add a row to docs/limits.md; else add its name to INSIDE_BY_NAME here.',
  ).toEqual([]);
  const gone = INSIDE_BY_NAME.filter((name) => inForce(name) === undefined || rows.includes(name));
  expect(gone, 'These need not be excused any more: take them out.').toEqual([]);
});
