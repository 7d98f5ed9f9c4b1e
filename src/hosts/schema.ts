import { z } from 'zod';
import type { HostQuirks } from '../canonical/host-quirks.ts';
import { HOST_WIRES } from '../canonical/wire-names.ts';
import { modelIdSchema, priceSchema } from '../catalog/schema.ts';
import { LIMITS } from '../limits.ts';
import { type HostRow, LABEL_FIELDS } from './host.ts';
import { PROXY_RULE, parseProxyUrl } from './proxy.ts';

const variableName = z
  .string()
  .max(LIMITS.variableNameCharsMax)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable');

const BASE_URL_RULE =
  'must be an http or https address without user, query or fragment, like "https://host.example/v1"';

/** Fields that decide which model runs or what it costs are excluded: only we write those. */
const fieldName = z
  .string()
  .min(1)
  .max(LIMITS.variableNameCharsMax)
  .refine((name) => !OWN_FIELDS.has(name), 'is a field that this gateway writes itself');

const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...['model', 'messages', 'input', 'prompt', 'system', 'stream', 'n', 'best_of', 'tools'],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens'],
]);

const hostModelName = z.string().min(1).max(LIMITS.modelIdCharsMax);

const servedModelSchema = z.union([
  modelIdSchema.describe('Model id, for callers and for the host.'),
  z.strictObject({
    id: modelIdSchema.describe('Model id for callers.'),
    model: hostModelName.optional().describe("The host's name for the model; by default the id."),
    context_window: z.int().positive().optional().describe('For a model that is not in the catalog.'),
    max_output_tokens: z.int().positive().optional().describe('For a model that is not in the catalog.'),
    wire: z.enum(HOST_WIRES).optional().describe("Wire for this model, if not the host's first."),
    price: priceSchema.optional().describe('What this host charges you, if not what callers pay.'),
    allow_loss: z.boolean().optional().describe('Allow the host to cost more than callers pay.'),
  }),
]);

/** An entry under `hosts` in the config file. By default it is a plain compatible host. */
export const hostEntrySchema = z
  .strictObject({
    name: z
      .string()
      .max(LIMITS.hostNameCharsMax)
      .regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be lower-case letters, digits, - and _')
      .describe('A name of your own, or that of a built-in host to change it.'),
    base_url: z.string().max(LIMITS.urlCharsMax).refine(isBaseUrl, BASE_URL_RULE).optional(),
    proxy: z
      .union([z.literal(false), z.string()])
      .refine((proxy) => proxy === false || isProxyUrl(proxy), `${PROXY_RULE}; or false, to reach the host directly`)
      .optional()
      .describe('Proxy for this host, or false for none. By default HTTPS_PROXY and HTTP_PROXY apply.'),
    wires: z
      .array(z.enum(HOST_WIRES))
      .min(1)
      .optional()
      .describe('Wires the host speaks; requests are translated to the first. By default chat.'),
    auth: z
      .enum(['bearer', 'api-key', 'x-api-key'])
      .optional()
      .describe('How the key is sent: as Authorization: Bearer, or alone in the header of that name.'),
    key: z
      .string()
      .max(LIMITS.providerKeyCharsMax)
      .regex(/^[\x21-\x7e]+$/, 'must be a key: no spaces, no line breaks')
      .optional()
      .describe('The key itself; prefer key_env.'),
    key_env: variableName
      .optional()
      .describe('Variable with the key; the same name with _FILE added names a file with the key.'),
    models: z.array(servedModelSchema).max(LIMITS.catalogModelsMax).optional().describe('Models this host serves.'),
    local: z
      .boolean()
      .optional()
      .describe(
        'Whether the host is on your own machines, where models without a price are free. By default true for loopback.',
      ),
    read_usage: z
      .enum(['cached_outside_prompt'])
      .optional()
      .describe('How the host counts tokens, if not as its wire does.'),
    reduces_vectors: z.boolean().optional().describe('Whether the host supports `dimensions` for embeddings.'),
    output_limit_field: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
    forwards: z.array(z.enum(LABEL_FIELDS)).optional().describe("Fields about the caller's users to send to the host."),
    on_client_gone: z.enum(['drain', 'cancel']).optional(),
    omits: z.array(fieldName).max(LIMITS.hostFieldsMax).optional().describe('Fields not to send to the host.'),
    adds: z
      .record(fieldName, z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe('Fields to add to every request to the host.'),
    developer_as_system: z.boolean().optional().describe('Send the role "developer" as "system".'),
    traces: z
      .enum(['reasoning', 'reasoning_content', 'none'])
      .optional()
      .describe('Field in which the host accepts reasoning of earlier turns; by default it is sent as it came.'),
    seals: z
      .string()
      .max(LIMITS.hostNameCharsMax)
      .regex(/^[a-z0-9][a-z0-9_-]*$/, 'must be lower-case letters, digits, - and _')
      .optional()
      .describe(
        'The vendor whose encrypted reasoning the host produces, if it is not the vendor of its wire; "any" for a reseller.',
      ),
    client_tools: z
      .boolean()
      .optional()
      .describe(
        'Whether this host of the responses wire knows namespaces, custom tools and tool search; by default it gets functions instead.',
      ),
    call_id_chars: z
      .int()
      .min(LIMITS.callIdCharsMin)
      .max(LIMITS.callIdCharsMax)
      .optional()
      .describe(
        'The length of tool call ids, in letters and digits, if the host refuses ids of any other length; by default ids are sent unchanged.',
      ),
    allow_loss: z.boolean().optional().describe('Allow every model of this host to cost more than callers pay.'),
  })
  .refine((entry) => entry.key === undefined || entry.key_env === undefined, {
    path: ['key_env'],
    error: 'is set together with "key"; give only one of them',
  });

export type HostEntry = z.infer<typeof hostEntrySchema>;

const AUTH_FORMS = {
  bearer: { header: 'authorization', scheme: 'Bearer' },
  'api-key': { header: 'api-key', scheme: null },
  'x-api-key': { header: 'x-api-key', scheme: null },
} as const;

const PLAIN_HOST: Omit<HostRow, 'name' | 'baseUrl'> = {
  wires: ['chat'],
  reducesVectors: false,
  auth: AUTH_FORMS.bearer,
  keyVariables: [],
  outputLimitField: 'max_tokens',
  forwards: [],
  onClientGone: 'drain',
  simulated: false,
  quirks: {},
};

/** The row of an entry, based on the built-in row of that name if there is one. */
export function readHostEntry(entry: HostEntry, builtIn: HostRow | undefined): HostRow {
  const base = builtIn ?? { ...PLAIN_HOST, name: entry.name, baseUrl: '' };
  return {
    ...base,
    ...(entry.base_url !== undefined && { baseUrl: withoutSlash(entry.base_url) }),
    ...(entry.wires !== undefined && { wires: entry.wires }),
    quirks: { ...base.quirks, ...readQuirks(entry) },
    ...(entry.reduces_vectors !== undefined && { reducesVectors: entry.reduces_vectors }),
    ...(entry.auth !== undefined && { auth: AUTH_FORMS[entry.auth] }),
    ...(entry.key_env !== undefined && { keyVariables: [entry.key_env] }),
    ...(entry.output_limit_field !== undefined && { outputLimitField: entry.output_limit_field }),
    ...(entry.forwards !== undefined && { forwards: entry.forwards }),
    ...(entry.on_client_gone !== undefined && { onClientGone: entry.on_client_gone }),
  };
}

function readQuirks(entry: HostEntry): HostQuirks {
  return {
    ...(entry.read_usage !== undefined && { readUsage: entry.read_usage }),
    ...(entry.omits !== undefined && { omits: entry.omits }),
    ...(entry.adds !== undefined && { adds: entry.adds }),
    ...(entry.developer_as_system !== undefined && { developerAsSystem: entry.developer_as_system }),
    ...(entry.traces !== undefined && { traces: entry.traces }),
    ...(entry.seals !== undefined && { seals: entry.seals }),
    ...(entry.client_tools !== undefined && { clientTools: entry.client_tools }),
    ...(entry.call_id_chars !== undefined && { callIdChars: entry.call_id_chars }),
  };
}

function isProxyUrl(text: string): boolean {
  return text.length <= LIMITS.urlCharsMax && parseProxyUrl(text) !== null;
}

/** Loopback means the operator's own machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(hostname);
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  const isBare = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  return isBare && (url.protocol === 'https:' || url.protocol === 'http:');
}
