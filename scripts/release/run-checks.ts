/** One thing that a release has to be: returns what to say about it, and throws if it is not so. */
export interface Check {
  readonly name: string;
  run(): Promise<string> | string;
}

/** Runs every check, also after one has failed, and reports each in a line; resolves to whether all succeeded. */
export async function runChecks(checks: readonly Check[], report: (line: string) => void): Promise<boolean> {
  const failed: string[] = [];
  for (const { name, run } of checks) {
    try {
      report(`ok      ${name}: ${await run()}`);
    } catch (error) {
      failed.push(name);
      report(`FAILED  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  report(failed.length === 0 ? `All ${checks.length} checks succeeded.` : `Failed: ${failed.join(', ')}.`);
  return failed.length === 0;
}
