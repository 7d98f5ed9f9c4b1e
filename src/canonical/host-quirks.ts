/** Where a host differs from its wire. Its row names the differences; the folder of the wire implements them. */
export interface HostQuirks {
  /** The rule for reading its token counts. */
  readonly readUsage?: string | undefined;
  /** Request fields that the host rejects and does not need. */
  readonly omits?: readonly string[];
  /** Fields that every request to it contains, because its default differs. */
  readonly adds?: Readonly<Record<string, string | number | boolean>>;
  /** It does not know the role "developer" and gets "system" instead. */
  readonly developerAsSystem?: boolean;
  /** The field in which it accepts reasoning of earlier turns; `none` if it accepts none; absent: unchanged. */
  readonly traces?: 'reasoning' | 'reasoning_content' | 'none';
  /** What it takes for the reasoning of an earlier turn that did not come back: it refuses tool loops without any. */
  readonly missingTrace?: string;
  /** The fields of the chat wire that switch its reasoning off, if the effort `none` does not. */
  readonly reasoningOff?: Readonly<Record<string, unknown>>;
  /**
   * Whose encrypted reasoning it produces and accepts, if not its wire's vendor's. Such reasoning is tagged with this name
   * and goes to no other host. `any`: a reseller, which passes it on to its origin.
   */
  readonly seals?: string;
  /** It signs tool calls and refuses earlier ones without a signature, unless they have this as their `extra_content`. */
  readonly unsignedCall?: Readonly<Record<string, unknown>>;
  /** It knows namespaces, custom tools and client-run tool search on the responses wire; other hosts get functions. */
  readonly clientTools?: boolean;
  /** Ids of tool calls in requests to it have exactly this many letters and digits; it refuses all others. */
  readonly callIdChars?: number;
  /** The lowest output limit that it takes on the responses wire. */
  readonly outputLimitMin?: number;
}
