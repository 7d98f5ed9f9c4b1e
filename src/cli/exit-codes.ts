/** The exit code of every command; docs/cli.md lists the same. */
export const EXIT = {
  ok: 0,
  /** Refused, not found, a ledger that does not verify, or a check that failed. */
  no: 1,
  /** A wrong command: unknown flag, bad value, bad config file, a Node that is too old. */
  usage: 2,
  /** The ledger cannot be opened: another process holds it and does not answer, or it is missing, unreadable or incomplete. */
  unreachable: 3,
  /** `serve` could not listen. */
  cannotListen: 4,
  /** The ledger of this folder has moved, so a supervisor should not restart the process. */
  moved: 5,
  /** A bug in Tollgate. */
  internal: 70,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
