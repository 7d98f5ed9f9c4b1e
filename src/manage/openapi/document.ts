import { z } from 'zod';
import { stringifyJson } from '../../json/stringify.ts';
import { managementPaths, type PathItems } from './management-paths.ts';
import { callErrorCodes, publicPaths, REQUEST_HEADERS, RESPONSE_HEADERS } from './public-paths.ts';
import { SchemaBook } from './schema-book.ts';
import { signInPaths } from './sign-in-paths.ts';

const error = z
  .object({
    error: z.object({
      message: z.string().describe('What happened, and what to do.'),
      type: z.string(),
      param: z.string().nullable().describe('The field at fault, if there is one.'),
      code: z.string().nullable(),
    }),
  })
  .meta({ id: 'Error' });

/** The OpenAPI 3.1 document of the management API, with our own part of the interface for callers. */
export function openapiDocument(version: string, managePrefix: string): string {
  const book = new SchemaBook();
  const paths = merged(managementPaths(book, managePrefix), signInPaths(book, managePrefix), publicPaths(book));
  const envelope = { 'application/json': { schema: book.response(error) } };
  return stringifyJson({
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version,
      summary: 'A metered gateway for language-model calls.',
      description:
        'Amounts are integers in nanodollars: 1,000,000,000 are one US dollar. Times are seconds since 1970, or those of jobs in RFC 3339. The bodies of calls are defined by the vendors, so only what the gateway adds is described here.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: book.components,
      parameters: parameters(),
      headers: RESPONSE_HEADERS,
      responses: {
        Error: { description: 'Nothing was changed. The message says what to do.', content: envelope },
        CallError: {
          description: `The call was refused or failed. Codes: ${callErrorCodes().join(', ')}, or one of the host.`,
          content: envelope,
        },
      },
      securitySchemes: {
        managementKey: { type: 'http', scheme: 'bearer', description: 'A management key, `tg_mgmt_…`.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-tollgate',
          description: 'The session of a person who has signed in, in hosted mode.',
        },
        gatewayKey: { type: 'http', scheme: 'bearer', description: 'A gateway key. In local mode none is needed.' },
        chosenKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-gateway-key',
          description: 'The id of the key that pays, `key_…`, for calls from a page of this gateway with a session.',
        },
      },
    },
  });
}

/** Two tables may have routes with the same path. */
function merged(...tables: readonly PathItems[]): PathItems {
  const paths: PathItems = {};
  for (const table of tables)
    for (const [path, item] of Object.entries(table)) paths[path] = { ...paths[path], ...item };
  return paths;
}

function parameters(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(REQUEST_HEADERS).map(([name, header]) => [name, { name, in: 'header', required: false, ...header }]),
  );
}
