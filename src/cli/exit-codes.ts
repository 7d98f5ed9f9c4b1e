/** What the exit code of every command means; docs/cli.md says the same. */
export const EXIT = {
  ok: 0,
  /** The answer is no: refused, not found, books that do not balance, a doctor who found something. */
  no: 1,
  /** The command itself is wrong: unknown flag, bad value, bad config file, a Node that is too old. */
  usage: 2,
  /** The books cannot be reached: held by a process that does not answer, unreadable, not there. */
  unreachable: 3,
  /** `serve` could not begin to listen. */
  cannotListen: 4,
  /** The books of this folder are kept elsewhere; whoever restarts processes need not try again. */
  moved: 5,
  /** A fault in Tollgate itself. */
  internal: 70,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
