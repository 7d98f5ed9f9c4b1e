import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ACCOUNT_PREFIX,
  ALERT_PREFIX,
  GROUP_PREFIX,
  INVITATION_PREFIX,
  JOB_PREFIX,
  KEY_PREFIX,
  MANAGEMENT_KEY_PREFIX,
  PERSON_PREFIX,
  SESSION_PREFIX,
} from '../../src/canonical/id-prefixes.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { formatId, parseId } from '../../src/kit/ids.ts';
import { EXAMPLE_IDS, EXAMPLE_TIME } from '../../src/manage/schema-fields.ts';
import { startResource } from '../cloud-resource.ts';
import { type Harness, startHarness } from '../harness.ts';
import { submitJobs } from '../job-caller.ts';

/** A server on which everything exists that the examples name: "acme", Ada, and one of each thing that has an id. */
export interface ExampleServer {
  readonly harness: Harness;
  readonly token: string;
  /** What to write instead of the ids of the examples. */
  readonly ids: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export async function startExampleServer(): Promise<ExampleServer> {
  // The times of the examples must lie in the future or the past as they say.
  const clock = { ...systemClock, nowMs: () => Math.trunc(EXAMPLE_TIME * 1000 + performance.now()) };
  const harness = await startHarness({ clock });
  const token = readFileSync(join(harness.folder, 'console.token'), 'utf8').trim();
  const create = async (path: string, body: object): Promise<Record<string, string>> => {
    const response = await fetch(`${harness.url}/manage/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  };
  const account = await create('/accounts', { name: 'acme' });
  await create(`/accounts/${account.id}/credits`, { amount_nanousd: 1_000_000_000 });
  const key = await create('/keys', { account: 'acme' });
  const invitation = await create('/invitations', { email: 'grace@example.com' });
  const managementKey = await create('/management-keys', { expires_at: EXAMPLE_TIME + 86_400 });
  const { personId } = await createPerson(harness, 'Ada');
  // Ada is signed out by an example.
  const { sessionId } = await createPerson(harness, 'Lin');
  const call = { model: 'sim-gpt-mini', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 8 };
  const answer = await harness.post(call, { authorization: `Bearer ${key.secret}` });
  await answer.text();
  await harness.settled();
  const { job, job_group } = await submitJobs(harness, key.secret!);
  const resource = await startResource('example-key-7f3c');
  const receiver = await startResource('of a webhook, which needs none');
  return {
    harness,
    token,
    stop: async () => {
      await harness.stop();
      await resource.close();
      await receiver.close();
    },
    ids: {
      'https://acme.example.com/openai/v1': resource.baseUrl,
      'https://hooks.example.com/tollgate': receiver.baseUrl,
      [EXAMPLE_IDS.account]: account.id!,
      [EXAMPLE_IDS.key]: key.id!,
      [EXAMPLE_IDS.receipt]: answer.headers.get('x-gateway-request-id')!,
      [EXAMPLE_IDS.person]: formatId(PERSON_PREFIX, personId),
      [EXAMPLE_IDS.invitation]: invitation.id!,
      [EXAMPLE_IDS.session]: formatId(SESSION_PREFIX, sessionId),
      [EXAMPLE_IDS.management_key]: managementKey.id!,
      [EXAMPLE_IDS.alert]: await raiseAlert(harness, account.id!),
      [EXAMPLE_IDS.job]: job,
      [EXAMPLE_IDS.job_group]: job_group,
    },
  };
}

/** An alert of the account. */
async function raiseAlert({ running }: Harness, account: string): Promise<string> {
  const { ids, store } = running.books;
  const alert = { id: ids.next(), condition: 'balance:1', kind: 'balance', subject: account, message: '' } as const;
  const more = { accountId: parseId(ACCOUNT_PREFIX, account), dataJson: '{}', createdMs: EXAMPLE_TIME * 1000 };
  await store.directory.raiseAlert({ ...alert, ...more }, 0);
  return formatId(ALERT_PREFIX, alert.id);
}

/** A person who is signed in. */
async function createPerson({ running }: Harness, name: string): Promise<{ personId: bigint; sessionId: bigint }> {
  const { ids, store } = running.books;
  const createdMs = EXAMPLE_TIME * 1000;
  const audit = (action: string) => ({
    id: ids.next(),
    atMs: createdMs,
    actorKind: 'command_line' as const,
    actorId: null,
    actorName: 'test',
    action,
    subject: '',
    accountId: null,
    before: null,
    after: null,
    address: null,
  });
  const [personId, sessionId] = [ids.next(), ids.next()];
  const email = `${name.toLowerCase()}@example.com`;
  const person = { id: personId, email, name, passwordHash: null, identity: null, isOperator: false, createdMs };
  await store.directory.createPerson(person, audit('person.create'));
  const sha256Hex = createHash('sha256').update(name).digest('hex');
  const client = { address: '203.0.113.7', userAgent: 'test' };
  await store.directory.createSession(
    { id: sessionId, sha256Hex, personId, createdMs, expiresMs: createdMs + 86_400_000, ...client },
    (await store.directory.findPerson(personId))!.version,
    10,
    audit('session.begin'),
  );
  return { personId, sessionId };
}

/** The ids of examples have the form of real ones, which the schemas check. */
export const EXAMPLE_ID_PREFIXES = {
  account: ACCOUNT_PREFIX,
  key: KEY_PREFIX,
  receipt: 'req_',
  person: PERSON_PREFIX,
  invitation: INVITATION_PREFIX,
  session: SESSION_PREFIX,
  management_key: MANAGEMENT_KEY_PREFIX,
  job: JOB_PREFIX,
  job_group: GROUP_PREFIX,
} as const;

export function isExampleId(name: keyof typeof EXAMPLE_ID_PREFIXES): boolean {
  return parseId(EXAMPLE_ID_PREFIXES[name], EXAMPLE_IDS[name]) !== null;
}
