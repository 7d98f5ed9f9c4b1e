import { nothing } from '../../operator/input.ts';
import { parseInput } from '../../operator/parse-input.ts';
import { acceptanceInput, acceptInvitation } from '../../signin/accept-invitation.ts';
import { linkInput, proveForLink } from '../../signin/link-identity.ts';
import {
  changePassword,
  endOwnSession,
  listOwnSessions,
  type OwnSession,
  ownSessionChoice,
  passwordChange,
  signOut,
} from '../../signin/own-sessions.ts';
import { invitationChoice, readInvitation } from '../../signin/read-invitation.ts';
import type { SignInServices, Visitor } from '../../signin/services.ts';
import { signIn, signInInput, waysToSignIn } from '../../signin/sign-in.ts';
import { finishSso, startSso } from '../../signin/sso-sign-in.ts';
import { endedSsoCookie } from '../../signin/sso-state.ts';
import type { ManageResponse } from '../response.ts';

interface SignInCall {
  readonly services: SignInServices;
  readonly visitor: Visitor;
  readonly input: Record<string, unknown>;
  readonly query: URLSearchParams;
}

interface SignInPlace {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Below `/manage/v1`. */
  readonly path: string;
  readonly summary: string;
}

/** Open to everybody: these routes are for proving who somebody is. */
interface OpenRoute extends SignInPlace {
  readonly access: 'everybody';
  /** A browser is sent here from another site, and what it brings is verified in another way. */
  readonly isNavigation?: true;
  /** `own` is the session of the browser, if it has one. */
  run(call: SignInCall, own: OwnSession | null): Promise<ManageResponse>;
}

/** For people who have signed in, about themselves. */
interface OwnRoute extends SignInPlace {
  readonly access: 'signed in';
  run(call: SignInCall, own: OwnSession): Promise<ManageResponse>;
}

export type SignInRoute = OpenRoute | OwnRoute;

/** Routes that no verb of the operator serves. They are in the matrix of who may do what, like all others. */
export const SIGN_IN_ROUTES: readonly SignInRoute[] = [
  {
    method: 'GET',
    path: '/sign-in',
    access: 'everybody',
    summary: 'The ways to sign in.',
    run: async ({ services, input }) => {
      parseInput(nothing, input);
      return { status: 200, body: waysToSignIn(services) };
    },
  },
  {
    method: 'POST',
    path: '/sign-in',
    access: 'everybody',
    summary: 'Signs in with `email` and `password`, and sets the session cookie.',
    run: async ({ services, visitor, input }) => {
      const { view, cookie } = await signIn(services, visitor, parseInput(signInInput, input));
      return { status: 201, body: view, cookies: [cookie] };
    },
  },
  {
    method: 'POST',
    path: '/invitations/read',
    access: 'everybody',
    summary: 'What the link with this `secret` is for. Changes nothing.',
    run: async ({ services, input }, own) => ({
      status: 200,
      body: await readInvitation(services, own, parseInput(invitationChoice, input)),
    }),
  },
  {
    method: 'POST',
    path: '/invitations/accept',
    access: 'everybody',
    summary:
      'Accepts the `secret` of a link, with `name` and `password` for a new person. A reset link takes `password`.',
    run: async ({ services, visitor, input }, own) => {
      const accepted = await acceptInvitation(services, visitor, own, parseInput(acceptanceInput, input));
      return { status: 200, body: accepted.view, ...(accepted.cookie === null ? {} : { cookies: [accepted.cookie] }) };
    },
  },
  {
    method: 'GET',
    path: '/sso/start',
    access: 'everybody',
    isNavigation: true,
    summary: 'Sends the browser to the provider of single sign-on.',
    run: async ({ services }) => {
      const { url, cookie } = await startSso(services);
      return { status: 303, body: {}, headers: { location: url }, cookies: [cookie] };
    },
  },
  {
    method: 'GET',
    path: '/sso/callback',
    access: 'everybody',
    isNavigation: true,
    summary: 'Where the provider sends the browser back to. Signs in, and redirects to the console.',
    run: async ({ services, visitor, query }, own) => {
      const { cookie } = await finishSso(services, visitor, own, query);
      const cookies = [endedSsoCookie(), ...(cookie === null ? [] : [cookie])];
      return { status: 303, body: {}, headers: { location: '/console' }, cookies };
    },
  },
  {
    method: 'POST',
    path: '/sso/link',
    access: 'signed in',
    summary:
      'Starts to link an identity of the provider to yourself. Go to `url` with the browser. Needs `password`, or a sign-in within the last 10 minutes.',
    run: async ({ services, visitor, input }, own) => {
      await proveForLink(services, visitor, own, parseInput(linkInput, input));
      const { url, cookie } = await startSso(services, own.personId);
      return { status: 200, body: { object: 'sso_link', url }, cookies: [cookie] };
    },
  },
  {
    method: 'POST',
    path: '/sign-out',
    access: 'signed in',
    summary: 'Ends the session of this browser.',
    run: async ({ services, visitor, input }, own) => {
      parseInput(nothing, input);
      const { view, cookie } = await signOut(services, visitor, own);
      return { status: 200, body: view, cookies: [cookie] };
    },
  },
  {
    method: 'POST',
    path: '/me/password',
    access: 'signed in',
    summary: 'Replaces your own password: `current` and `password`. All other sessions of the person end.',
    run: async ({ services, visitor, input }, own) => ({
      status: 200,
      body: await changePassword(services, visitor, own, parseInput(passwordChange, input)),
    }),
  },
  {
    method: 'GET',
    path: '/me/sessions',
    access: 'signed in',
    summary: 'Where the person is signed in.',
    run: async ({ services, input }, own) => {
      parseInput(nothing, input);
      return { status: 200, body: { object: 'list', data: await listOwnSessions(services, own), next: null } };
    },
  },
  {
    method: 'DELETE',
    path: '/me/sessions/{session}',
    access: 'signed in',
    summary: 'Ends one of your own sessions.',
    run: async ({ services, visitor, input }, own) => ({
      status: 200,
      body: await endOwnSession(services, visitor, own, parseInput(ownSessionChoice, input)),
    }),
  },
];
