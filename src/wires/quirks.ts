/** How a host row departs from the wire's rules; what each word means stands in the wire's own folder. */
export interface HostQuirks {
  readonly readUsage?: string | undefined;
  /** Fields that the host is not sent, and fields that it always is. */
  readonly omits?: readonly string[];
  readonly adds?: Readonly<Record<string, string | number | boolean>>;
  readonly developerAsSystem?: boolean;
  /** The one name by which the host takes traces of earlier turns; absent: as they were written. */
  readonly traces?: 'reasoning' | 'reasoning_content' | 'none';
  /** Whose sealed reasoning the host makes and takes back; absent: its wire's own vendor's, `any`: every vendor's. */
  readonly seals?: string;
}
