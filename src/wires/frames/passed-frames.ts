/** Frames that were relayed without parsing. */
export interface PassedFrames {
  /** Where the next frame begins. */
  readonly end: number;
  /** The bytes for the client. */
  readonly bytes: Buffer;
}
