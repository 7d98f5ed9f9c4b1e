// Written by `npm run console:types` from the schemas of the management API. Do not edit.

export interface Me {
  object: 'me';
  kind: 'person' | 'management_key' | 'command_line' | 'configuration' | 'gateway_key';
  id: string | null;
  name: string;
  operator: boolean;
  read_only: boolean;
  roles: readonly ({ account: string; role: 'owner' | 'member' | 'viewer'; })[];
}

export interface Account {
  object: 'account';
  id: string;
  name: string;
  kind: 'prepaid' | 'unlimited';
  status: 'active' | 'suspended' | 'closed';
  created: number;
  balance_nanousd: bigint;
  held_nanousd: bigint;
  reserved_nanousd: bigint;
  available_nanousd: bigint;
  spent_nanousd: bigint;
  version: number;
}

export interface ClosedAccount {
  object: 'account';
  id: string;
  name: string;
  kind: 'prepaid' | 'unlimited';
  status: 'active' | 'suspended' | 'closed';
  created: number;
  balance_nanousd: bigint;
  held_nanousd: bigint;
  reserved_nanousd: bigint;
  available_nanousd: bigint;
  spent_nanousd: bigint;
  version: number;
  paid_out_nanousd: bigint;
}

export interface Credit {
  object: 'credit';
  account: string;
  amount_nanousd: bigint;
  reference: string;
  repeated: boolean;
  balance_nanousd: bigint;
}

export interface Balance {
  object: 'balance';
  currency: 'USD';
  account: string;
  name: string;
  unlimited: boolean;
  balance_nanousd: bigint;
  held_nanousd: bigint;
  reserved_nanousd: bigint;
  available_nanousd: bigint;
  spent_nanousd: bigint;
  hangups?: { allowance_nanousd: bigint; remaining_nanousd: bigint; resets_at: number; } | null;
  key: { id: string; spend_cap_nanousd: bigint | null; spent_nanousd: bigint; held_nanousd: bigint; reserved_nanousd: bigint; remaining_nanousd: bigint | null; window: 'lifetime' | 'day' | 'week' | 'month'; resets_at: number | null; } | null;
  person?: { id: string; spend_cap_nanousd: bigint | null; spent_nanousd: bigint; held_nanousd: bigint; reserved_nanousd: bigint; remaining_nanousd: bigint | null; window: 'lifetime' | 'day' | 'week' | 'month'; resets_at: number | null; };
}

export interface Entry {
  object: 'entry';
  id: string;
  account: string;
  type: 'credit' | 'refund' | 'month' | 'hold' | 'reservation';
  created: number;
  amount_nanousd: bigint;
  held_nanousd: bigint | null;
  reserved_nanousd: bigint | null;
  reference: string | null;
  note: string | null;
  receipt: string | null;
  key: string | null;
  receipts: number | null;
}

export interface MemberSpending {
  object: 'member';
  account: string;
  person: string;
  email: string;
  address_confirmed: boolean;
  name: string;
  role: 'owner' | 'member' | 'viewer';
  spend_cap_nanousd: bigint | null;
  window: 'lifetime' | 'day' | 'week' | 'month';
  spent_nanousd: bigint;
  held_nanousd: bigint;
  reserved_nanousd: bigint;
  remaining_nanousd: bigint | null;
  resets_at: number | null;
}

export interface Member {
  object: 'member';
  account: string;
  person: string;
  email: string;
  address_confirmed: boolean;
  name: string;
  role: 'owner' | 'member' | 'viewer';
  spend_cap_nanousd: bigint | null;
  window: 'lifetime' | 'day' | 'week' | 'month';
}

export interface ShownKey {
  object: 'key';
  id: string;
  account: string;
  person: string | null;
  name: string;
  hint: string;
  status: 'active' | 'disabled' | 'expired' | 'revoked';
  spend_cap_nanousd: bigint | null;
  window: 'lifetime' | 'day' | 'week' | 'month';
  expires_at: number | null;
  models: readonly (string)[] | null;
  permissions: readonly ('calls' | 'provider_keys' | 'account_read' | 'webhooks')[];
  on_unsupported: 'refuse' | 'drop';
  note: string | null;
  max_cost_nanousd: bigint | null;
  last_used_at: number | null;
  created: number;
  revoked_at: number | null;
  disabled_at: number | null;
  person_disabled_at: number | null;
  old_secret_expires_at: number | null;
  version: number;
  spent_nanousd: bigint;
  held_nanousd: bigint;
  reserved_nanousd: bigint;
  remaining_nanousd: bigint | null;
  resets_at: number | null;
}

export interface MintedKey {
  object: 'key';
  id: string;
  account: string;
  person: string | null;
  name: string;
  hint: string;
  status: 'active' | 'disabled' | 'expired' | 'revoked';
  spend_cap_nanousd: bigint | null;
  window: 'lifetime' | 'day' | 'week' | 'month';
  expires_at: number | null;
  models: readonly (string)[] | null;
  permissions: readonly ('calls' | 'provider_keys' | 'account_read' | 'webhooks')[];
  on_unsupported: 'refuse' | 'drop';
  note: string | null;
  max_cost_nanousd: bigint | null;
  last_used_at: number | null;
  created: number;
  revoked_at: number | null;
  disabled_at: number | null;
  person_disabled_at: number | null;
  old_secret_expires_at: number | null;
  version: number;
  unknown_models: readonly (string)[];
  secret: string;
}

export interface ChangedKey {
  object: 'key';
  id: string;
  account: string;
  person: string | null;
  name: string;
  hint: string;
  status: 'active' | 'disabled' | 'expired' | 'revoked';
  spend_cap_nanousd: bigint | null;
  window: 'lifetime' | 'day' | 'week' | 'month';
  expires_at: number | null;
  models: readonly (string)[] | null;
  permissions: readonly ('calls' | 'provider_keys' | 'account_read' | 'webhooks')[];
  on_unsupported: 'refuse' | 'drop';
  note: string | null;
  max_cost_nanousd: bigint | null;
  last_used_at: number | null;
  created: number;
  revoked_at: number | null;
  disabled_at: number | null;
  person_disabled_at: number | null;
  old_secret_expires_at: number | null;
  version: number;
  unknown_models: readonly (string)[];
}

export interface RotatedKey {
  object: 'key';
  id: string;
  account: string;
  person: string | null;
  name: string;
  hint: string;
  status: 'active' | 'disabled' | 'expired' | 'revoked';
  spend_cap_nanousd: bigint | null;
  window: 'lifetime' | 'day' | 'week' | 'month';
  expires_at: number | null;
  models: readonly (string)[] | null;
  permissions: readonly ('calls' | 'provider_keys' | 'account_read' | 'webhooks')[];
  on_unsupported: 'refuse' | 'drop';
  note: string | null;
  max_cost_nanousd: bigint | null;
  last_used_at: number | null;
  created: number;
  revoked_at: number | null;
  disabled_at: number | null;
  person_disabled_at: number | null;
  old_secret_expires_at: number | null;
  version: number;
  secret: string;
}

export interface Key {
  object: 'key';
  id: string;
  account: string;
  person: string | null;
  name: string;
  hint: string;
  status: 'active' | 'disabled' | 'expired' | 'revoked';
  spend_cap_nanousd: bigint | null;
  window: 'lifetime' | 'day' | 'week' | 'month';
  expires_at: number | null;
  models: readonly (string)[] | null;
  permissions: readonly ('calls' | 'provider_keys' | 'account_read' | 'webhooks')[];
  on_unsupported: 'refuse' | 'drop';
  note: string | null;
  max_cost_nanousd: bigint | null;
  last_used_at: number | null;
  created: number;
  revoked_at: number | null;
  disabled_at: number | null;
  person_disabled_at: number | null;
  old_secret_expires_at: number | null;
  version: number;
}

export interface ProviderKey {
  object: 'provider_key';
  provider: string;
  last_four: string;
  base_url: string;
  status: 'verified' | 'rejected' | 'unreadable';
  verified_at: number;
  created_at: number;
  rejected_at: number | null;
  last_used_at: number | null;
}

export interface Webhook {
  object: 'webhook';
  name: string;
  account: string | null;
  url: string;
  events: readonly (string)[] | null;
  status: 'active' | 'retrying' | 'failing';
  created: number;
  last_delivered_at: number | null;
  failing_since: number | null;
  pending: number;
  dropped: number;
  old_secret_expires_at: number | null;
}

export interface NewWebhook {
  object: 'webhook';
  name: string;
  account: string | null;
  url: string;
  events: readonly (string)[] | null;
  status: 'active' | 'retrying' | 'failing';
  created: number;
  last_delivered_at: number | null;
  failing_since: number | null;
  pending: number;
  dropped: number;
  old_secret_expires_at: number | null;
  secret: string | null;
}

export interface WebhookDelivery {
  object: 'webhook_delivery';
  id: string;
  type: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  created: number;
  last_attempt_at: number | null;
  next_attempt_at: number | null;
  http_status: number | null;
  error: string | null;
}

export interface Alert {
  object: 'alert';
  id: string;
  kind: 'balance' | 'key_cap' | 'person_cap' | 'host' | 'losses' | 'disk' | 'verify';
  account: string | null;
  subject: string;
  message: string;
  data: Readonly<Record<string, unknown>>;
  created: number;
  resolved_at: number | null;
  acknowledged_at: number | null;
  acknowledged_by: string | null;
}

export interface AlertSettings {
  object: 'alert_settings';
  account: string;
  balance_below_nanousd: bigint | null;
  cap_percent: number | null;
}

export interface Job {
  id: string;
  object: 'job';
  endpoint: string;
  requested_model: string;
  effective_model: string;
  status: 'scheduled' | 'queued' | 'running' | 'cancelling' | 'paused' | 'succeeded' | 'failed' | 'cancelled' | 'expired';
  created_at: string;
  not_before: string | null;
  expires_at: string;
  started_at: string | null;
  finished_at: string | null;
  result_expires_at: string | null;
  attempts: number;
  reserved_nanousd: bigint;
  cost_nanousd: bigint | null;
  request_id: string | null;
  price_version: string;
  custom_id: string | null;
  metadata: Readonly<Record<string, string>>;
  error: { code: string; message: string; } | null;
  group: string | null;
  account: string;
  key: string | null;
  person: string | null;
}

export interface JobGroup {
  id: string;
  object: 'job_group';
  status: 'running' | 'finished';
  created_at: string;
  finished_at: string | null;
  counts: { total: number; waiting: number; running: number; succeeded: number; failed: number; cancelled: number; expired: number; };
  reserved_nanousd: bigint;
  cost_nanousd: bigint;
  metadata: Readonly<Record<string, string>>;
  account: string;
  key: string | null;
  person: string | null;
}

export interface Receipt {
  object: 'receipt';
  id: string;
  created: number;
  route: string;
  requested_model: string;
  effective_model: string;
  status: 'open' | 'settled' | 'voided';
  http_status: number | null;
  ended: 'complete' | 'failed' | 'upstream_error' | 'timeout' | 'shutdown' | 'client_gone' | 'stalled' | 'died' | null;
  usage_source: 'reported' | 'partial' | 'estimated' | 'drained' | 'none';
  hangup_charged: boolean;
  usage: { fresh_tokens: number; cache_read_tokens: number; cache_write_tokens: number; cache_write_1h_tokens: number; output_tokens: number; reasoning_tokens: number; } | null;
  components: { fresh: number; cache_write: number; cache_read: number; output: number; } | null;
  cost_nanousd: bigint | null;
  refunded_nanousd: bigint;
  held_nanousd: bigint;
  price_version: string;
  key: string | null;
  idempotency_key: string | null;
  labels: Readonly<Record<string, string>>;
  adjusted: string | null;
  chain: string | null;
  first_byte_ms: number | null;
  account: string;
  duration_ms: number | null;
  host?: string | null;
  attempts?: number;
  tries?: readonly ({ host?: string; outcome: string; ms: number; })[] | null;
  loss?: { amount_nanousd: bigint; reason: string; } | null;
}

export interface Refund {
  object: 'refund';
  receipt: string;
  account: string;
  amount_nanousd: bigint;
  reference: string;
  repeated: boolean;
  cost_nanousd: bigint;
  refunded_nanousd: bigint;
  balance_nanousd: bigint;
}

export interface SignedReceipt {
  payload: string;
  protected: string;
  signature: string;
  proof?: { month: string; receipts: string; spent_nanousd: string; salt: string; receipt_path: readonly ({ left: string; } | { right: string; })[]; account_path: readonly ({ left: string; } | { right: string; })[]; root: { payload: string; protected: string; signature: string; }; };
}

export interface Refusal {
  object: 'refusal';
  id: string;
  account: string;
  key: string | null;
  created: number;
  route: string;
  model: string | null;
  http_status: number;
  code: string;
  message: string;
  worst_nanousd: bigint | null;
  available_nanousd: bigint | null;
}

export interface Usage {
  object: 'usage';
  since: number;
  until: number;
  bucket: 'hour' | 'day' | 'week' | 'month' | 'none';
  group_by: readonly (string)[];
  data: readonly (UsageRow)[];
  totals: { requests: number | null; fresh_tokens: number | null; cache_read_tokens: number | null; cache_write_tokens: number | null; cache_write_1h_tokens: number | null; output_tokens: number | null; reasoning_tokens: number | null; cost_nanousd: bigint | null; refunded_nanousd: bigint | null; refused: number | null; first_byte_p50_ms: number | null; first_byte_p95_ms: number | null; duration_p50_ms: number | null; duration_p95_ms: number | null; };
}

export interface UsageRow {
  start: number | null;
  account: string | null;
  account_name: string | null;
  key: string | null;
  key_name: string | null;
  person: string | null;
  person_email?: string | null;
  model: string | null;
  route: string | null;
  host?: string | null;
  chain: string | null;
  label: string | null;
  requests: number | null;
  fresh_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
  cache_write_1h_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  cost_nanousd: bigint | null;
  refunded_nanousd: bigint | null;
  refused: number | null;
  first_byte_p50_ms: number | null;
  first_byte_p95_ms: number | null;
  duration_p50_ms: number | null;
  duration_p95_ms: number | null;
}

export interface Model {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
  name: string;
  aliases: readonly (string)[];
  caps: readonly (string)[];
  context_window: number;
  context_length: number;
  max_output_tokens: number;
  architecture: { modality: string; input_modalities: readonly (string)[]; output_modalities: readonly (string)[]; };
  supported_parameters: readonly (string)[];
  reasoning_efforts?: readonly (string)[];
  embedding?: { dimensions: number | null; matryoshka: boolean; };
  pricing: Pricing;
  canonical_slug: string;
  links: { details: string; };
  top_provider: { context_length: number; max_completion_tokens: number; is_moderated: false; };
  default_parameters: null;
  per_request_limits: null;
  supported_voices: null;
  hosts?: readonly (string)[];
}

export interface Pricing {
  unit: 'nanousd_per_million_tokens';
  input: number;
  output: number;
  cache_read: number | null;
  cache_write: number | null;
  cache_write_1h: number | null;
  prompt: string;
  completion: string;
  input_cache_read: string;
  input_cache_write: string;
  tiers?: readonly ({ above_input_tokens: number; input: number; output: number; cache_read: number | null; cache_write: number | null; cache_write_1h: number | null; prompt: string; completion: string; input_cache_read: string; input_cache_write: string; })[];
}

export interface Host {
  object: 'host';
  id: string;
  state: 'well' | 'limited' | 'ejected' | 'key_refused' | 'probing' | 'refusing';
  first_byte_ms: number | null;
  models: readonly ({ model: string; host_model: string; input: number; output: number; place: number; })[];
  events: readonly ({ at: number; kind: string; status: number | null; })[];
}

export interface HostLosses {
  object: 'host_losses';
  since: number;
  until: number;
  complete: boolean;
  data: readonly ({ host: string | null; reason: string | null; calls: number; loss_nanousd: bigint; })[];
}

export interface Person {
  object: 'person';
  id: string;
  email: string;
  address_confirmed: boolean;
  name: string;
  operator: boolean;
  status: 'active' | 'disabled';
  password: boolean;
  single_sign_on: boolean;
  created: number;
  version: number;
}

export interface PersonWithRoles {
  object: 'person';
  id: string;
  email: string;
  address_confirmed: boolean;
  name: string;
  operator: boolean;
  status: 'active' | 'disabled';
  password: boolean;
  single_sign_on: boolean;
  created: number;
  version: number;
  roles: readonly (Member)[];
}

export interface Invited {
  object: 'invitation';
  id: string;
  email: string;
  operator: boolean;
  account: string | null;
  role: 'owner' | 'member' | 'viewer' | null;
  spend_cap_nanousd: bigint | null;
  window: 'lifetime' | 'day' | 'week' | 'month';
  resets_password: boolean;
  status: 'open' | 'accepted' | 'revoked' | 'expired';
  created: number;
  expires: number;
  secret: string;
  link: string | null;
}

export interface Session {
  object: 'session';
  id: string;
  person: string;
  created: number;
  last_used: number;
  expires: number;
  address: string;
  user_agent: string;
}

export interface Invitation {
  object: 'invitation';
  id: string;
  email: string;
  operator: boolean;
  account: string | null;
  role: 'owner' | 'member' | 'viewer' | null;
  spend_cap_nanousd: bigint | null;
  window: 'lifetime' | 'day' | 'week' | 'month';
  resets_password: boolean;
  status: 'open' | 'accepted' | 'revoked' | 'expired';
  created: number;
  expires: number;
}

export interface ManagementKey {
  object: 'management_key';
  id: string;
  name: string;
  hint: string;
  account: string | null;
  role: 'operator' | 'owner' | 'member' | 'viewer';
  read_only: boolean;
  status: 'active' | 'expired' | 'revoked';
  minted_by: string | null;
  minted_by_name: string | null;
  created: number;
  expires_at: number | null;
  last_used: number | null;
}

export interface MintedManagementKey {
  object: 'management_key';
  id: string;
  name: string;
  hint: string;
  account: string | null;
  role: 'operator' | 'owner' | 'member' | 'viewer';
  read_only: boolean;
  status: 'active' | 'expired' | 'revoked';
  minted_by: string | null;
  minted_by_name: string | null;
  created: number;
  expires_at: number | null;
  last_used: number | null;
  secret: string;
}

export interface AuditEntry {
  object: 'audit_entry';
  id: string;
  at: number;
  actor: { kind: 'person' | 'management_key' | 'command_line' | 'configuration' | 'gateway_key'; id: string | null; name: string; };
  action: string;
  subject: string;
  account: string | null;
  before: unknown;
  after: unknown;
  address: string | null;
}

export interface System {
  object: 'status';
  version: string;
  server: { url: string; pid: number; hosted: boolean; started: number; } | null;
  store: { ok: boolean; reason: string | null; may_admit: boolean; };
  clock_behind_ms: number;
  accepted_losses: readonly ({ accepted: number; receipts: number; spent_nanousd: bigint; })[];
  models: number;
  price_version: string;
  settings: Readonly<Record<string, unknown>>;
  setting_sources: Readonly<Record<string, string>>;
  disk_free_bytes: number | null;
}

export interface SealStatus {
  object: 'seal_status';
  source: string;
  keys: readonly ({ id: string; use: 'seals' | 'opens' | 'unknown'; rows: number; })[];
  rows: number;
  unreadable: number;
  unreadable_keys: readonly ({ account: string | null; provider: string | null; webhook: string | null; job?: string; })[];
}

export interface VerificationTask {
  object: 'verification_task';
  status: 'none' | 'running' | 'done' | 'failed';
  started: number | null;
  ended: number | null;
  rows_read: number;
  rows_total: number;
  report: { object: 'verification'; ok: boolean; accounts: number; keys: number; receipts: number; credits: number; refunds: number; open_holds: number; loss_nanousd: bigint; closed_months: number; closed_receipts: number; since: string | null; not_kept: number; without_tree: number; violations: readonly (string)[]; accepted_losses: readonly ({ accepted: number; receipts: number; spent_nanousd: bigint; })[]; } | null;
  reason: string | null;
}

export interface OwnSession {
  object: 'session';
  id: string;
  person: string;
  created: number;
  last_used: number;
  expires: number;
  address: string;
  user_agent: string;
  current: boolean;
}

export interface Error {
  error: { message: string; type: string; param: string | null; code: string | null; };
}

/** What each route takes, in path, query and body together, and what it answers. */
export interface Routes {
  'GET /me': { input: {}; output: Me };
  'GET /accounts': { input: { limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Account)[]; next: string | null; } };
  'POST /accounts': { input: { name: string; kind?: 'prepaid' | 'unlimited' | undefined; }; output: Account };
  'GET /accounts/{account}': { input: { account: string; }; output: Account };
  'PATCH /accounts/{account}': { input: { account: string; name: string; }; output: Account };
  'POST /accounts/{account}/suspend': { input: { account: string; }; output: Account };
  'POST /accounts/{account}/resume': { input: { account: string; }; output: Account };
  'POST /accounts/{account}/close': { input: { account: string; wait_seconds?: number | undefined; note?: string | undefined; }; output: ClosedAccount };
  'POST /accounts/{account}/credits': { input: { account: string; amount_nanousd: bigint; reference?: string | null | undefined; note?: string | null | undefined; }; output: Credit };
  'GET /accounts/{account}/balance': { input: { account: string; key?: string | undefined; }; output: Balance };
  'GET /accounts/{account}/entries': { input: { account: string; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Entry)[]; next: string | null; } };
  'GET /accounts/{account}/members': { input: { account: string; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (MemberSpending)[]; next: string | null; } };
  'PUT /accounts/{account}/members/{person}': { input: { account: string; person: string; role?: 'owner' | 'member' | 'viewer' | undefined; spend_cap_nanousd?: bigint | null | undefined; window?: 'lifetime' | 'day' | 'week' | 'month' | undefined; }; output: Member };
  'PATCH /accounts/{account}/members/{person}': { input: { account: string; person: string; role?: 'owner' | 'member' | 'viewer' | undefined; spend_cap_nanousd?: bigint | null | undefined; window?: 'lifetime' | 'day' | 'week' | 'month' | undefined; }; output: Member };
  'DELETE /accounts/{account}/members/{person}': { input: { account: string; person: string; }; output: { object: 'member'; account: string; person: string; status: 'removed'; } };
  'GET /keys': { input: { account?: string | undefined; person?: string | undefined; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (ShownKey)[]; next: string | null; } };
  'POST /keys': { input: { account: string; person?: string | null | undefined; name?: string | undefined; spend_cap_nanousd?: bigint | null | undefined; window?: 'lifetime' | 'day' | 'week' | 'month' | undefined; expires_at?: number | null | undefined; models?: readonly (string)[] | null | undefined; allow?: readonly ('provider_keys' | 'account_read' | 'webhooks')[] | undefined; on_unsupported?: 'refuse' | 'drop' | undefined; note?: string | null | undefined; max_cost_nanousd?: bigint | null | undefined; }; output: MintedKey };
  'GET /keys/{key}': { input: { key: string; }; output: ShownKey };
  'PATCH /keys/{key}': { input: { key: string; name?: string | undefined; spend_cap_nanousd?: bigint | null | undefined; window?: 'lifetime' | 'day' | 'week' | 'month' | undefined; expires_at?: number | null | undefined; models?: readonly (string)[] | null | undefined; allow?: readonly ('provider_keys' | 'account_read' | 'webhooks')[] | undefined; deny?: readonly ('provider_keys' | 'account_read' | 'webhooks')[] | undefined; on_unsupported?: 'refuse' | 'drop' | undefined; note?: string | null | undefined; max_cost_nanousd?: bigint | null | undefined; }; output: ChangedKey };
  'POST /keys/{key}/rotate': { input: { key: string; grace_seconds?: number | undefined; }; output: RotatedKey };
  'POST /keys/{key}/disable': { input: { key: string; }; output: Key };
  'POST /keys/{key}/enable': { input: { key: string; }; output: Key };
  'POST /keys/{key}/revoke': { input: { key: string; }; output: Key };
  'GET /accounts/{account}/provider-keys': { input: { account: string; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (ProviderKey)[]; next: string | null; } };
  'PUT /accounts/{account}/provider-keys/{provider}': { input: { account: string; provider: string; api_key: string; base_url: string; }; output: ProviderKey };
  'DELETE /accounts/{account}/provider-keys/{provider}': { input: { account: string; provider: string; }; output: { object: 'provider_key'; provider: string; status: 'removed'; } };
  'POST /accounts/{account}/provider-keys/{provider}/verify': { input: { account: string; provider: string; }; output: ProviderKey };
  'GET /webhooks': { input: { account?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Webhook)[]; next: string | null; } };
  'GET /webhooks/{name}': { input: { name: string; account?: string | undefined; }; output: Webhook };
  'PUT /webhooks/{name}': { input: { name: string; account?: string | null | undefined; url: string; events?: readonly (string)[] | null | undefined; }; output: NewWebhook };
  'DELETE /webhooks/{name}': { input: { name: string; account?: string | undefined; }; output: { object: 'webhook'; name: string; status: 'removed'; } };
  'POST /webhooks/{name}/rotate': { input: { name: string; account?: string | null | undefined; grace_seconds?: number | undefined; }; output: NewWebhook };
  'POST /webhooks/{name}/test': { input: { name: string; account?: string | null | undefined; }; output: WebhookDelivery };
  'GET /webhooks/{name}/deliveries': { input: { name: string; account?: string | undefined; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (WebhookDelivery)[]; next: string | null; } };
  'GET /alerts': { input: { account?: string | undefined; kind?: 'balance' | 'key_cap' | 'person_cap' | 'host' | 'losses' | 'disk' | 'verify' | undefined; status?: 'all' | 'open' | 'unacknowledged' | undefined; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Alert)[]; next: string | null; } };
  'POST /alerts/{alert}/acknowledge': { input: { alert: string; }; output: Alert };
  'GET /accounts/{account}/alert-settings': { input: { account: string; }; output: AlertSettings };
  'PATCH /accounts/{account}/alert-settings': { input: { account: string; balance_below_nanousd?: bigint | null | undefined; cap_percent?: number | null | undefined; }; output: AlertSettings };
  'GET /jobs': { input: { account?: string | undefined; key?: string | undefined; person?: string | undefined; status?: 'scheduled' | 'queued' | 'running' | 'cancelling' | 'paused' | 'succeeded' | 'failed' | 'cancelled' | 'expired' | undefined; group?: string | undefined; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Job)[]; next: string | null; } };
  'GET /jobs/{job}': { input: { job: string; }; output: Job };
  'POST /jobs/{job}/cancel': { input: { job: string; }; output: Job };
  'GET /job-groups': { input: { account?: string | undefined; key?: string | undefined; person?: string | undefined; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (JobGroup)[]; next: string | null; } };
  'GET /job-groups/{job_group}': { input: { job_group: string; }; output: JobGroup };
  'POST /job-groups/{job_group}/cancel': { input: { job_group: string; }; output: JobGroup };
  'POST /restored-jobs/resume': { input: { restored: true; }; output: { object: 'restored_jobs'; status: 'resumed' | 'failed'; jobs: number; } };
  'POST /restored-jobs/fail': { input: { restored: true; }; output: { object: 'restored_jobs'; status: 'resumed' | 'failed'; jobs: number; } };
  'GET /receipts': { input: { account?: string | undefined; key?: string | undefined; person?: string | undefined; since?: number | undefined; until?: number | undefined; model?: string | undefined; route?: string | undefined; status?: 'open' | 'settled' | 'voided' | undefined; ended?: 'complete' | 'failed' | 'upstream_error' | 'timeout' | 'shutdown' | 'client_gone' | 'stalled' | 'died' | undefined; chain?: string | undefined; host?: string | undefined; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Receipt)[]; next: string | null; } };
  'GET /receipts/feed': { input: { account?: string | undefined; key?: string | undefined; after?: string | undefined; }; output: unknown };
  'GET /receipts/{receipt}': { input: { receipt: string; }; output: Receipt };
  'POST /receipts/{receipt}/refund': { input: { receipt: string; amount_nanousd?: bigint | null | undefined; reference?: string | null | undefined; note?: string | null | undefined; }; output: Refund };
  'GET /receipts/{receipt}/signed': { input: { receipt: string; proof?: boolean | undefined; }; output: SignedReceipt };
  'GET /refusals': { input: { request?: string | undefined; account?: string | undefined; key?: string | undefined; person?: string | undefined; model?: string | undefined; code?: string | undefined; since?: number | undefined; until?: number | undefined; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Refusal)[]; next: string | null; } };
  'GET /usage': { input: { since?: number | undefined; until?: number | undefined; bucket?: 'hour' | 'day' | 'week' | 'month' | 'none' | undefined; group_by?: string | undefined; metrics?: string | undefined; account?: string | undefined; key?: string | undefined; person?: string | undefined; model?: string | undefined; route?: string | undefined; host?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: Usage };
  'GET /models': { input: { format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Model)[]; next: string | null; price_version: string; } };
  'GET /hosts': { input: { format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Host)[]; next: string | null; } };
  'GET /hosts/losses': { input: { since?: number | undefined; until?: number | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: HostLosses };
  'GET /people': { input: { limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Person)[]; next: string | null; } };
  'GET /people/{person}': { input: { person: string; }; output: PersonWithRoles };
  'PATCH /people/{person}': { input: { person: string; name?: string | undefined; operator?: boolean | undefined; }; output: Person };
  'POST /people/{person}/disable': { input: { person: string; }; output: Person };
  'POST /people/{person}/enable': { input: { person: string; }; output: Person };
  'POST /people/{person}/reset': { input: { person: string; }; output: Invited };
  'GET /people/{person}/sessions': { input: { person: string; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Session)[]; next: string | null; } };
  'POST /people/{person}/sign-out': { input: { person: string; }; output: { object: 'person'; id: string; sessions_ended: number; } };
  'DELETE /sessions/{session}': { input: { session: string; }; output: { object: 'session'; id: string; status: 'ended'; } };
  'GET /invitations': { input: { account?: string | undefined; status?: 'open' | 'accepted' | 'revoked' | 'expired' | undefined; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (Invitation)[]; next: string | null; } };
  'POST /invitations': { input: { email: string; operator?: boolean | undefined; account?: string | null | undefined; role?: 'owner' | 'member' | 'viewer' | null | undefined; spend_cap_nanousd?: bigint | null | undefined; window?: 'lifetime' | 'day' | 'week' | 'month' | undefined; }; output: Invited };
  'DELETE /invitations/{invitation}': { input: { invitation: string; }; output: { object: 'invitation'; id: string; status: 'revoked'; } };
  'GET /management-keys': { input: { account?: string | undefined; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (ManagementKey)[]; next: string | null; } };
  'POST /management-keys': { input: { name?: string | undefined; account?: string | null | undefined; role?: 'operator' | 'owner' | 'viewer' | undefined; read_only?: boolean | undefined; expires_at: number; }; output: MintedManagementKey };
  'DELETE /management-keys/{management_key}': { input: { management_key: string; }; output: ManagementKey };
  'GET /audit': { input: { account?: string | undefined; person?: string | undefined; actor?: string | undefined; action?: string | undefined; subject?: string | undefined; since?: number | undefined; until?: number | undefined; limit?: number | undefined; after?: string | undefined; format?: 'json' | 'csv' | 'jsonl' | undefined; }; output: { object: 'list'; data: readonly (AuditEntry)[]; next: string | null; } };
  'GET /system': { input: {}; output: System };
  'GET /system/seal': { input: {}; output: SealStatus };
  'GET /system/verify': { input: {}; output: VerificationTask };
  'POST /system/verify': { input: { since?: string | null | undefined; usage?: boolean | undefined; }; output: VerificationTask };
  'GET /sign-in': { input: {}; output: { object: 'sign_in'; password: boolean; single_sign_on: { issuer: string; start: string; } | null; unavailable: string | null; } };
  'POST /sign-in': { input: { email: string; password: string; }; output: Session };
  'POST /invitations/read': { input: { secret: string; }; output: { object: 'invitation_link'; email: string; purpose: 'new_person' | 'existing_person' | 'new_password'; operator: boolean; role: 'owner' | 'member' | 'viewer' | null; account_name: string | null; signed_in: 'nobody' | 'this_person' | 'somebody_else'; } };
  'POST /invitations/accept': { input: { secret: string; name?: string | undefined; password?: string | undefined; }; output: Person };
  'GET /sso/start': { input: {}; output: unknown };
  'GET /sso/callback': { input: {}; output: unknown };
  'POST /sso/link': { input: { password?: string | undefined; }; output: { object: 'sso_link'; url: string; } };
  'POST /sign-out': { input: {}; output: { object: 'session'; id: string; status: 'ended'; } };
  'POST /me/password': { input: { current: string; password: string; }; output: { object: 'person'; id: string; password: true; } };
  'GET /me/sessions': { input: {}; output: { object: 'list'; data: readonly (OwnSession)[]; next: string | null; } };
  'DELETE /me/sessions/{session}': { input: { session: string; }; output: { object: 'session'; id: string; status: 'ended'; } };
}
