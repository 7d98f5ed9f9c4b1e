import type { Migration } from './migration.ts';

/**
 * What a role rests on: who confirmed an address, which management key made a link, what an owner fixed for a member's
 * key, when somebody last proved who they are, and the caps of people who left an account. `email_key` is the address in
 * lower case, as in `person`. People whom an owner invited before this migration are not confirmed, and keys of viewers
 * stop working.
 */
const sqlite = `
ALTER TABLE person ADD COLUMN unconfirmed_in INTEGER REFERENCES account (id);
UPDATE person SET unconfirmed_in = (
    SELECT account_id FROM invitation
    WHERE lower(invitation.email) = person.email_key AND accepted_ms IS NOT NULL AND resets_person IS NULL
    ORDER BY invitation.id LIMIT 1)
  WHERE operator = 0 AND sso_subject IS NULL AND (
    SELECT inviter.operator FROM invitation JOIN person AS inviter ON inviter.id = invited_by
    WHERE lower(invitation.email) = person.email_key AND accepted_ms IS NOT NULL AND resets_person IS NULL
    ORDER BY invitation.id LIMIT 1) = 0;

ALTER TABLE invitation ADD COLUMN email_key TEXT NOT NULL DEFAULT '';
UPDATE invitation SET email_key = lower(email);
CREATE INDEX invitation_by_email ON invitation (email_key);
CREATE INDEX invitation_by_account ON invitation (account_id, id) WHERE accepted_ms IS NULL AND revoked_ms IS NULL;
ALTER TABLE invitation ADD COLUMN made_with INTEGER REFERENCES management_key (id);
ALTER TABLE invitation ADD COLUMN cap INTEGER;
ALTER TABLE invitation ADD COLUMN cap_window INTEGER;

ALTER TABLE session ADD COLUMN proved_ms INTEGER NOT NULL DEFAULT 0;
UPDATE session SET proved_ms = created_ms;

ALTER TABLE api_key ADD COLUMN owner_terms TEXT;
UPDATE api_key SET person_disabled_ms = created_ms
  WHERE person_disabled_ms IS NULL AND revoked_ms IS NULL AND EXISTS (
    SELECT 1 FROM membership
    WHERE membership.account_id = api_key.account_id AND membership.person_id = api_key.person_id AND role = 2);

CREATE TABLE former_member (
  account_id INTEGER NOT NULL REFERENCES account (id),
  person_id INTEGER NOT NULL REFERENCES person (id),
  cap INTEGER,
  cap_window INTEGER NOT NULL,
  PRIMARY KEY (account_id, person_id)
) STRICT, WITHOUT ROWID;
`;

/** The same tables and columns, with PostgreSQL's names of the types. */
const postgres = sqlite
  .replaceAll(/\) STRICT(, WITHOUT ROWID)?;/g, ');')
  .replaceAll(/\bcap_window INTEGER\b/g, 'cap_window int2')
  .replaceAll('INTEGER', 'int8')
  .replaceAll('TEXT', 'text');

export const rights: Migration = { number: 23, name: 'rights', sqlite, postgres };
