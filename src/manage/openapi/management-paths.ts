import { EXPORT_FORMATS, rowSchemaOf } from '../export/format.ts';
import { inputSchemaOf, type ManageRoute } from '../route.ts';
import { MANAGE_ROUTES } from '../routes.ts';
import { inputSchema, type JsonSchema, type SchemaBook } from './schema-book.ts';

export type PathItems = Record<string, Record<string, object>>;

/** Every route of the management API, as operations of the document. */
export function managementPaths(book: SchemaBook, prefix: string): PathItems {
  const paths: PathItems = {};
  for (const route of MANAGE_ROUTES) {
    const path = prefix + route.path;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, book) };
  }
  return paths;
}

function operationOf(route: ManageRoute, book: SchemaBook): object {
  const input = inputSchema(inputSchemaOf(route));
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const others = Object.keys(input.properties).filter((name) => !inPath.includes(name) && name !== 'version');
  const example = route.example.input as Record<string, unknown>;
  const takesBody = hasBody(route);
  const parameters = [
    ...inPath.map((name) => parameter('path', name, input.properties[name]!, example[name], true)),
    ...(takesBody ? [] : others).map((name) =>
      parameter('query', name, input.properties[name]!, example[name], input.required.includes(name)),
    ),
    ...(rowSchemaOf(route) === null ? [] : [FORMAT]),
    ...(route.versioned ? [IF_MATCH] : []),
  ];
  const body = bodyOf(input, others, example);
  return {
    operationId: operationIdOf(route),
    tags: [route.path.split('/')[1]!],
    summary: route.summary,
    description: `Who may: ${whoMay(route)}.`,
    security: [{ managementKey: [] }, { session: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(takesBody && { requestBody: body }),
    responses: {
      [route.creates ? '201' : '200']: {
        description: descriptionOf(route),
        content: {
          [route.streams ? 'text/event-stream' : 'application/json']: {
            schema: book.response(route.response, route.operatorMembers),
            example: route.example.output,
          },
          ...(rowSchemaOf(route) !== null && EXPORTS),
        },
      },
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

function descriptionOf({ creates, streams }: ManageRoute): string {
  if (streams) return 'Server-sent events. The schema is that of `data` in an event `receipt`.';
  return creates ? 'Created.' : 'Done.';
}

export function hasBody({ method }: ManageRoute): boolean {
  return method !== 'GET' && method !== 'DELETE';
}

/** From the verb, so that a client's methods are called as the commands are. */
export function operationIdOf({ verb }: ManageRoute): string {
  return verb.replace(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function whoMay({ access, membersOwn }: ManageRoute): string {
  if (access === 'anybody') return 'anybody who has signed in or has a management key';
  if (access === 'operator') return 'operators';
  const role = `at least the role ${access.role} in the account`;
  if (membersOwn === undefined || membersOwn === 'balance') return role;
  return membersOwn === 'nothing' ? `${role}, but not members` : `${role}; members only for what is their own`;
}

function parameter(
  place: 'path' | 'query',
  name: string,
  { description, ...schema }: JsonSchema,
  example: unknown,
  required: boolean,
): object {
  return {
    name,
    in: place,
    required,
    ...(description !== undefined && { description }),
    // A URL cannot contain null: leaving the parameter out means the same.
    schema: withoutNull(schema),
    ...(example !== undefined && { example }),
  };
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const { default: given, anyOf, ...rest } = schema;
  const kept = given === null || given === undefined ? {} : { default: given };
  if (!Array.isArray(anyOf)) return { ...rest, ...kept };
  const choices = (anyOf as JsonSchema[]).filter(({ type }) => type !== 'null');
  return choices.length === 1 ? { ...choices[0], ...rest, ...kept } : { anyOf: choices, ...rest, ...kept };
}

function bodyOf(
  { properties, required }: ReturnType<typeof inputSchema>,
  names: readonly string[],
  example: Record<string, unknown>,
): object {
  const needed = required.filter((name) => names.includes(name));
  return {
    required: needed.length > 0,
    content: {
      'application/json': {
        schema: {
          type: 'object',
          properties: Object.fromEntries(names.map((name) => [name, properties[name]!])),
          ...(needed.length > 0 && { required: needed }),
          additionalProperties: false,
        },
        example: Object.fromEntries(Object.entries(example).filter(([name]) => names.includes(name))),
      },
    },
  };
}

const FORMAT = {
  name: 'format',
  in: 'query',
  required: false,
  description:
    'Every row as CSV or JSON lines, instead of a page. `limit` is then the largest number of rows. The `Accept` header can ask for the same.',
  schema: { type: 'string', enum: ['json', ...EXPORT_FORMATS] },
};

const EXPORTS = { 'text/csv': { schema: { type: 'string' } }, 'application/jsonl': { schema: { type: 'string' } } };

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag of what was read. A change is refused with 412 if somebody else has changed it since.',
  schema: { type: 'string' },
};
