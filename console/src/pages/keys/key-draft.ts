import type { Input } from '../../api/client.ts';
import type { Key } from '../../api/generated/routes.ts';
import { CAP_FAULT, isCapText, parseDollars, writeDollars } from '../../parts/money-format.ts';

type Window = Key['window'];

/** What somebody types into the fields of a key. */
export interface KeyDraft {
  readonly name: string;
  /** In dollars; empty for no cap. */
  readonly cap: string;
  readonly window: Window;
  /** In dollars; empty for no ceiling. */
  readonly maxCost: string;
  /** A date like 2026-12-31; empty for a key that does not expire. */
  readonly expires: string;
  /** One name a line or separated by commas; empty for all models. */
  readonly models: string;
  readonly note: string;
}

export const EMPTY_DRAFT: KeyDraft = {
  name: '',
  cap: '',
  window: 'month',
  maxCost: '',
  expires: '',
  models: '',
  note: '',
};

export function draftOf(key: Key): KeyDraft {
  return {
    name: key.name,
    cap: key.spend_cap_nanousd === null ? '' : writeDollars(key.spend_cap_nanousd),
    window: key.window,
    maxCost: key.max_cost_nanousd === null ? '' : writeDollars(key.max_cost_nanousd),
    expires: key.expires_at === null ? '' : dayOf(key.expires_at),
    models: (key.models ?? []).join('\n'),
    note: key.note ?? '',
  };
}

export type DraftFaults = Partial<Record<keyof KeyDraft, string>>;

export function faultsOf(draft: KeyDraft): DraftFaults {
  return {
    ...(draft.name.trim() === '' ? { name: 'Give the key a name.' } : {}),
    ...(isCapText(draft.cap) ? {} : { cap: CAP_FAULT }),
    ...(isCapText(draft.maxCost) ? {} : { maxCost: CAP_FAULT }),
    ...(draft.expires === '' || !Number.isNaN(Date.parse(draft.expires)) ? {} : { expires: 'Choose a date.' }),
  };
}

type KeyTerms = Pick<
  Input<'POST /keys'>,
  'name' | 'spend_cap_nanousd' | 'window' | 'max_cost_nanousd' | 'expires_at' | 'models' | 'note'
>;

/** All terms of a new key. */
export function termsOf(draft: KeyDraft): KeyTerms {
  const models = draft.models.split(/[\s,]+/).filter((name) => name !== '');
  return {
    name: draft.name.trim(),
    spend_cap_nanousd: draft.cap.trim() === '' ? null : parseDollars(draft.cap),
    window: draft.cap.trim() === '' ? 'lifetime' : draft.window,
    max_cost_nanousd: draft.maxCost.trim() === '' ? null : parseDollars(draft.maxCost),
    expires_at: draft.expires === '' ? null : endOfDay(draft.expires),
    models: models.length === 0 ? null : models,
    note: draft.note.trim() === '' ? null : draft.note.trim(),
  };
}

/** Only what differs: a member may not send a cap that an owner has set, not even the same one. */
export function changesOf(before: KeyDraft, after: KeyDraft): Partial<KeyTerms> {
  const old = termsOf(before);
  const wanted = Object.entries(termsOf(after)) as [keyof KeyTerms, KeyTerms[keyof KeyTerms]][];
  return Object.fromEntries(wanted.filter(([name, value]) => String(value) !== String(old[name])));
}

/** A key works until the end of the chosen day, in UTC. */
function endOfDay(day: string): number {
  return Date.parse(`${day}T23:59:59Z`) / 1000;
}

/** The end of the year 9999: fields for dates take later years, but ISO dates write them in another way. */
const LAST_DAY_SECONDS = 253_402_300_799;

function dayOf(seconds: number): string {
  return new Date(Math.min(seconds, LAST_DAY_SECONDS) * 1000).toISOString().slice(0, 10);
}
