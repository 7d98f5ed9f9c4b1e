import { createSecureContext, type SecureContextOptions } from 'node:tls';
import pg from 'pg';
import { LIMITS } from '../../limits.ts';
import { StoreMisnamed } from '../store.ts';
import { asked } from './faults.ts';
import { TYPES } from './values.ts';

export interface Statement {
  readonly text: string;
  /** Without values the text is sent as it is and may contain several statements. */
  readonly values?: readonly unknown[];
}

/** Rows as arrays of columns. */
export interface Answer {
  readonly rows: readonly never[];
  readonly command: string;
}

export function clientConfig(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    types: TYPES,
    keepAlive: true,
    application_name: 'tollgate',
    connectionTimeoutMillis: LIMITS.postgresConnectMs,
  };
}

const PORT_MAX = 65_535;

/**
 * Reads the URL and the files that it names once at start, to report mistakes to the operator. Later they are read
 * again for every connection, when a file that is just being replaced is not an error.
 */
export function checkUrl(url: string): void {
  try {
    const { port, ssl } = new pg.Client({ connectionString: url }) as { port: number; ssl: unknown };
    if (!(port > 0 && port <= PORT_MAX)) throw new Error(`the port must be a number from 1 to ${PORT_MAX}`);
    if (typeof ssl === 'object' && ssl !== null) createSecureContext(ssl as SecureContextOptions);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StoreMisnamed(`The URL of the store is invalid: ${why}.`, { cause: error });
  }
}

/**
 * One connection of the ledger. Statements are sent together and answered in order, so that many cost one round trip.
 * None is named or leaves anything in the session, so that a pooler may sit in between.
 */
export class PipelinedConnection {
  /** Its number among the ledger's connections; no two open ones have the same. */
  readonly number: number;
  readonly #client: pg.Client;
  #lost = false;

  private constructor(client: pg.Client, number: number) {
    this.#client = client;
    this.number = number;
    client.on('error', () => {
      this.#lost = true;
    });
    client.on('end', () => {
      this.#lost = true;
    });
  }

  static async open(url: string, number: number): Promise<PipelinedConnection> {
    const config = { ...clientConfig(url), pipeline: true, query_timeout: LIMITS.postgresAnswerMs };
    const client = new pg.Client(config);
    const line = new PipelinedConnection(client, number);
    await asked(client.connect());
    return line;
  }

  get lost(): boolean {
    return this.#lost;
  }

  /**
   * Sends all at once. If one fails, those after it in the same transaction fail too; the first failure is reported.
   */
  async together(statements: readonly Statement[]): Promise<Answer[]> {
    const sent = statements.map(({ text, values }) =>
      asked(this.#client.query({ text, rowMode: 'array', ...(values === undefined ? {} : { values: [...values] }) })),
    );
    const answers = await Promise.allSettled(sent);
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return answers.map((answer) => (answer as PromiseFulfilledResult<unknown>).value as Answer);
  }

  async end(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }
}
