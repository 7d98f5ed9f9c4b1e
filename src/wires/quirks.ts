/** How a host differs from its wire's rules, from its row; each wire's folder implements the values. */
export interface HostQuirks {
  readonly readUsage?: string | undefined;
  /** Fields that are never sent to the host, and fields that always are. */
  readonly omits?: readonly string[];
  readonly adds?: Readonly<Record<string, string | number | boolean>>;
  readonly developerAsSystem?: boolean;
  /** The field in which the host takes the reasoning of earlier turns; absent: as the caller wrote it. */
  readonly traces?: 'reasoning' | 'reasoning_content' | 'none';
  /** What stands for the reasoning of a turn that did not come back, for a host that insists on it after tool calls. */
  readonly missingTrace?: string;
  /** The fields that switch reasoning off, for a host whose effort cannot; absent: the effort `none`. */
  readonly reasoningOff?: Readonly<Record<string, unknown>>;
  /** The vendor whose encrypted reasoning the host makes and takes back; absent: its wire's vendor; `any`: every vendor. */
  readonly seals?: string;
  /** What the host takes as the signature of a tool call that it did not sign; absent: it signs no calls. */
  readonly unsignedCall?: Readonly<Record<string, unknown>>;
  /** The host of the responses wire knows all tools that clients run; absent: it gets them as functions. */
  readonly clientTools?: boolean;
}
