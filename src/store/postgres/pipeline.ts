import { createSecureContext, type SecureContextOptions } from 'node:tls';
import pg from 'pg';
import { LIMITS } from '../../limits.ts';
import { StoreMisnamed } from '../store.ts';
import { asked } from './faults.ts';
import { TYPES } from './values.ts';

export interface Statement {
  readonly text: string;
  /** None at all sends the text as it is; it may then hold several statements. */
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
 * Reads the URL and the files that it names once, before anybody waits for an answer: what is wrong with them is the
 * operator's to mend. Later they are read with every new connection, and a file that is just being replaced is no fault.
 */
export function checkUrl(url: string): void {
  try {
    const { port, ssl } = new pg.Client({ connectionString: url }) as { port: number; ssl: unknown };
    if (!(port > 0 && port <= PORT_MAX)) throw new Error(`a port is a number from 1 to ${PORT_MAX}`);
    if (typeof ssl === 'object' && ssl !== null) createSecureContext(ssl as SecureContextOptions);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StoreMisnamed(`The URL of the store cannot be used: ${why}.`, { cause: error });
  }
}

/**
 * One connection of the ledger's own. Statements are sent together and answered in turn, so that many cost one round
 * trip; none of them has a name or leaves anything behind in the session, so that a pooler may stand between.
 */
export class PipelinedConnection {
  readonly #client: pg.Client;
  #lost = false;

  private constructor(client: pg.Client) {
    this.#client = client;
    client.on('error', () => {
      this.#lost = true;
    });
    client.on('end', () => {
      this.#lost = true;
    });
  }

  static async open(url: string): Promise<PipelinedConnection> {
    const config = { ...clientConfig(url), pipeline: true, query_timeout: LIMITS.postgresAnswerMs };
    const client = new pg.Client(config);
    const line = new PipelinedConnection(client);
    await asked(client.connect());
    return line;
  }

  get lost(): boolean {
    return this.#lost;
  }

  /** Sends all at once. If one fails, so do those after it in the same transaction; the first failure is the reason. */
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
