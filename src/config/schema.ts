import { z } from 'zod';
import { modelIdSchema, modelRowSchema, priceSchema } from '../catalog/schema.ts';
import { hostEntrySchema } from '../hosts/schema.ts';
import { readNetwork } from '../http1/client-address.ts';
import { LIMITS } from '../limits.ts';
import { alertsSchema } from './alerts.ts';
import { healthSchema } from './health.ts';
import { jobsSchema } from './jobs.ts';
import { loadLimitsSchema, rateLimitSchema } from './load-limits.ts';
import { retentionSchema } from './retention.ts';
import { ssoSchema } from './sso.ts';
import { storeUrlSchema } from './store.ts';
import { workersSchema } from './workers.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Which HTTP/1.1 code carries requests: ours, or the platform's (node:http and undici). */
export const TRANSPORTS = ['own', 'node'] as const;
export type Transport = (typeof TRANSPORTS)[number];

const DAY_MS = 24 * 60 * 60 * 1000;

export const portSchema = z.int().min(0).max(65_535);
const addressSchema = z.string().min(1).max(LIMITS.urlCharsMax);
/** Addresses that systems listen on have no brackets, unlike those in URLs. */
export const listenAddressSchema = addressSchema.refine(
  (text) => !text.startsWith('['),
  'must be an IPv6 address without brackets, like ::1',
);
export const folderSchema = z.string().min(1).max(LIMITS.urlCharsMax);
/** Compared with the Host header without its port; an IPv6 address is in brackets there. */
const HOST_NAME = /^(?:\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)$/i;
export const hostHeadersSchema = z
  .array(
    addressSchema.refine(
      (text) => HOST_NAME.test(text),
      'must be a name without a scheme, a port or a path, like "gateway.example"; an IPv6 address is in brackets',
    ),
  )
  .max(LIMITS.configListMax);
export const originsSchema = z
  .array(
    z
      .string()
      .max(LIMITS.urlCharsMax)
      .refine((text) => URL.parse(text)?.origin === text, 'must be an origin, like "https://app.example"'),
  )
  .max(LIMITS.configListMax);
export const logLevelSchema = z.enum(LOG_LEVELS);
export const transportSchema = z.enum(TRANSPORTS);

/** An origin: a path would make it unclear where the routes are. */
export const publicUrlSchema = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address', abort: true })
  .refine((text) => new URL(text).origin === text.replace(/\/$/, ''), 'must have no path, query or user')
  .transform((text) => new URL(text).origin);

export const trustedProxiesSchema = z
  .array(
    z
      .string()
      .max(LIMITS.urlCharsMax)
      .refine((text) => readNetwork(text) !== null, 'must be an address or a network, like "10.0.0.0/8"'),
  )
  .max(LIMITS.configListMax);

function milliseconds(usual: number, meaning: string) {
  return z.int().min(1).max(DAY_MS).default(usual).describe(meaning);
}

const listenSchema = z.strictObject({
  host: listenAddressSchema
    .default('127.0.0.1')
    .describe('Address to listen on; any address but loopback needs "hosted".'),
  port: portSchema.default(8080).describe('Port to listen on; 0 picks any free port.'),
  operations_host: listenAddressSchema
    .default('127.0.0.1')
    .describe('Address of health and metrics in hosted mode; they need no key, so expose it to trusted networks only.'),
  operations_port: portSchema.default(9464).describe('Port of health and metrics in hosted mode.'),
  console_port: portSchema
    .nullable()
    .default(null)
    .describe('Port of the management API, which is then served nowhere else; null means the port that callers use.'),
});

const limitsSchema = z.strictObject({
  first_frame_ms: milliseconds(300_000, "Longest wait for a host's first frame."),
  idle_ms: milliseconds(120_000, 'Longest pause of a host between two frames.'),
  buffered_ms: milliseconds(300_000, 'Longest buffered call.'),
  stream_ms: milliseconds(1_800_000, 'Longest stream.'),
  keep_alive_ms: milliseconds(15_000, 'Pause after which a stream gets a keep-alive comment.'),
  stall_ms: milliseconds(60_000, 'A client that reads nothing for this long is disconnected.'),
  drain_ms: milliseconds(60_000, 'How long a host may finish its response after the client has disconnected.'),
  shutdown_ms: milliseconds(30_000, 'How long running calls may continue after the stop signal.'),
  shutdown_notice_ms: z
    .int()
    .min(0)
    .max(DAY_MS)
    .optional()
    .describe(
      'How long calls are still taken after the stop signal, while load balancers learn of it; 3000 in hosted mode, 0 in local mode.',
    ),
  request_head_ms: milliseconds(30_000, "How long a client may take to send a request's headers."),
  calls_per_host: z
    .int()
    .min(1)
    .max(65_535)
    .default(LIMITS.hostConnectionsMax)
    .describe('Concurrent calls to one host; further calls wait.'),
  request_ms: milliseconds(120_000, 'How long a client may take to send a whole request.'),
  count_above_nanousd: z
    .int()
    .min(0)
    .max(LIMITS.lossNanousdMax)
    .default(50_000_000)
    .describe(
      'Count the tokens of a prompt if a hold computed from its bytes would be higher than this, in nanodollars.',
    ),
  hangup_allowance_nanousd: z
    .int()
    .min(0)
    .max(LIMITS.lossNanousdMax)
    .nullable()
    .default(1_000_000_000)
    .describe(
      'What the callers of an account may cost you per hour by hanging up before any content, in nanodollars; null is no limit.',
    ),
});

const metricsSchema = z.strictObject({
  per_account: z.boolean().default(false).describe('Count calls and costs by account, for at most 1,000 accounts.'),
  per_key: z.boolean().default(false).describe('Count calls and costs by key, for at most 1,000 keys.'),
});

/** `tollgate.config.json`. Every field is optional; unknown fields are refused. */
export const configFileSchema = z
  .strictObject({
    $schema: z.string().optional(),
    listen: listenSchema.prefault({}),
    data: folderSchema.optional().describe('Data folder, which holds the ledger; relative to this file.'),
    store: storeUrlSchema
      .optional()
      .describe('PostgreSQL database that holds the ledger instead, like "postgres://user@host/database".'),
    hosted: z.boolean().default(false).describe('Serve other people: every call needs a key.'),
    console: z
      .boolean()
      .default(true)
      .describe('Serve the management API and its pages; false serves them on no port.'),
    master_key_file: folderSchema
      .optional()
      .describe('File with the master keys, the first of which encrypts new provider keys; relative to this file.'),
    master_key_command: z
      .string()
      .min(1)
      .max(LIMITS.urlCharsMax)
      .optional()
      .describe('Command that prints the master keys, for example from a vault.'),
    public_url: publicUrlSchema
      .optional()
      .describe('Address under which people reach the gateway, like https://gateway.example; links begin with it.'),
    sso: ssoSchema.optional().describe('Single sign-on with OpenID Connect, in hosted mode.'),
    trusted_proxies: trustedProxiesSchema
      .default([])
      .describe('Addresses or networks of proxies, like "10.0.0.0/8", whose X-Forwarded-For names the client.'),
    allowed_hosts: hostHeadersSchema
      .default([])
      .describe('Host headers to accept besides localhost: names or addresses without a port.'),
    origins: originsSchema.default([]).describe('Web origins that may call (CORS).'),
    log_level: logLevelSchema.default('info'),
    transport: transportSchema
      .default('own')
      .describe('HTTP code to use: "own" (the gateway\'s, fastest) or "node" (node:http and undici).'),
    workers: workersSchema
      .default('auto')
      .describe('Threads that serve calls: a number, or "auto", one less than the number of cores, at most 8.'),
    limits: limitsSchema.prefault({}),
    rate_limit: rateLimitSchema.prefault({}),
    load_limits: loadLimitsSchema.prefault({}),
    health: healthSchema.prefault({}),
    retention: retentionSchema.prefault({}),
    alerts: alertsSchema.prefault({}),
    metrics: metricsSchema.prefault({}),
    jobs: jobsSchema.prefault({}),
    frame_memory: z
      .boolean()
      .default(true)
      .describe('Relay repeated frames and responses without parsing them; false parses everything.'),
    simulated_host: z
      .boolean()
      .optional()
      .describe(
        'Offer the simulated models; by default always in local mode, in hosted mode only without a real host.',
      ),
    local_hosts: z
      .boolean()
      .default(true)
      .describe('In local mode, look for model servers on their usual ports on this machine.'),
    hosts: z.array(hostEntrySchema).max(LIMITS.configHostsMax).default([]),
    models: z.array(modelRowSchema).max(LIMITS.catalogModelsMax).default([]).describe('Models to add or replace.'),
    prices: z
      .record(modelIdSchema, priceSchema)
      .default({})
      .describe('Your own prices for models of the catalog, by id.'),
    default_model: z.string().min(1).max(LIMITS.modelIdCharsMax).optional().describe('Model that "default" means.'),
  })
  .meta({ title: 'Tollgate configuration' });

export type ConfigFile = z.infer<typeof configFileSchema>;

/** The published schema for editors, made from the schema that checks the file. */
export function configJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(configFileSchema, { io: 'input' });
}
