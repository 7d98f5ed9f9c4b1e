export interface ManageResponse {
  readonly status: number;
  readonly body: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** `Set-Cookie` values. */
  readonly cookies?: readonly string[];
  /** Called once the response is over. */
  readonly end?: () => void;
}
