import type { z } from 'zod';
import type { AccountRole } from '../accounts/principal.ts';
import type { OperatorReceiptView } from '../canonical/receipt-view.ts';
import { accountPage, nothing } from '../operator/input.ts';
import { VERBS, type VerbInput, type VerbName, type VerbResult } from '../operator/operator.ts';
import type { AccountView, ListView } from '../operator/view.ts';
import { receiptFeedInput } from './feed/feed-filter.ts';
import type { MeView } from './me-view.ts';

/** Who may use a route: operators, people with at least this role in the account, or anybody who is signed in. */
type Access = 'operator' | { readonly role: AccountRole } | 'anybody';

export const OWNER: Access = { role: 'owner' };
export const VIEWER: Access = { role: 'viewer' };

/** What the handler answers itself, because it depends on who asks. */
const OWN_INPUTS = { me: nothing, 'own.accounts': accountPage, 'receipts.feed': receiptFeedInput } as const;

interface OwnResults {
  readonly me: MeView;
  readonly 'own.accounts': ListView<AccountView>;
  /** The content of each event. */
  readonly 'receipts.feed': OperatorReceiptView;
}

type RouteVerb = VerbName | keyof typeof OWN_INPUTS;
type Input<Verb extends RouteVerb> = Verb extends VerbName
  ? VerbInput<Verb>
  : Verb extends keyof typeof OWN_INPUTS
    ? z.input<(typeof OWN_INPUTS)[Verb]>
    : never;
type Result<Verb extends RouteVerb> = Verb extends VerbName
  ? VerbResult<Verb>
  : Verb extends keyof OwnResults
    ? OwnResults[Verb]
    : never;

interface RouteTerms<Verb extends RouteVerb> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below `/manage/v1`; a part in braces is a member of the verb's input. */
  readonly path: string;
  readonly verb: Verb;
  readonly access: Access;
  /** Which member of the input names the account, or the thing whose account counts. */
  readonly scope?: 'account' | 'key' | 'receipt' | 'invitation' | 'management_key' | 'alert' | 'job' | 'job_group';
  /** Members may use it only for what is their own, of this kind; with `nothing` they may not use it. */
  readonly membersOwn?: 'key' | 'keys' | 'receipt' | 'receipts' | 'feed' | 'balance' | 'job' | 'job_group' | 'nothing';
  /** `If-Match` may carry the version that the change was made to. */
  readonly versioned?: true;
  /** It creates something: the response has status 201 instead of 200. */
  readonly creates?: true;
  /** The response is a stream of server-sent events that has no end. */
  readonly streams?: true;
  /** Members of the response, or of each row of a list, that only operators see. */
  readonly operatorMembers?: readonly string[];
  /** Members of the input that only operators may send. */
  readonly operatorInputs?: readonly string[];
  readonly summary: string;
}

export interface ManageRoute extends RouteTerms<RouteVerb> {
  readonly response: z.ZodType;
  /** An input with path, query and body together, and what it may return. Tests send every one to a server. */
  readonly example: { readonly input: object; readonly output: object };
}

/** A route. It does not compile unless the schema describes exactly what the verb returns. */
export function route<Verb extends RouteVerb, Schema extends z.ZodType<Result<Verb>>>(
  terms: RouteTerms<Verb> & {
    readonly response: [Result<Verb>] extends [z.output<Schema>] ? Schema : never;
    readonly example: { readonly input: Input<Verb>; readonly output: Result<Verb> };
  },
): ManageRoute {
  return terms as unknown as ManageRoute;
}

/** The schema of path, query and body together. */
export function inputSchemaOf({ verb }: ManageRoute): z.ZodType {
  return verb in OWN_INPUTS ? OWN_INPUTS[verb as keyof typeof OWN_INPUTS] : VERBS[verb as VerbName].input;
}
