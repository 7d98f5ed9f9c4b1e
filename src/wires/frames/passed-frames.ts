/** Frames that went on without being read. */
export interface PassedFrames {
  /** Where what follows them begins. */
  readonly end: number;
  /** What goes to the client. */
  readonly bytes: Buffer;
}
