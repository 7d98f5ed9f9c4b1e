import { openapiDocument } from '../src/manage/openapi/document.ts';

type Schema = Readonly<Record<string, unknown>>;

const PREFIX = '/manage/v1';
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: Schema;
    readonly required?: boolean;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> }>
  >;
}

/** TypeScript for the console: one interface per schema of the management API, and one member per route. */
export function consoleTypes(): string {
  const { paths, components } = JSON.parse(openapiDocument('', PREFIX)) as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, Schema>; responses: object };
  };
  const managed = Object.entries(paths).filter(([path]) => path.startsWith(PREFIX));
  const used = namesIn([managed, components.responses], components.schemas);
  const schemas = Object.entries(components.schemas)
    .filter(([name]) => used.has(name))
    .map(([name, schema]) => `export interface ${name} ${membersOf(schema)}`);
  const routes = managed.flatMap(([path, item]) =>
    METHODS.flatMap((method) => routeType(method, path.slice(PREFIX.length), item[method])),
  );
  return [
    '// Written by `npm run console:types` from the schemas of the management API. Do not edit.',
    '',
    ...schemas.flatMap((schema) => [schema, '']),
    '/** What each route takes, in path, query and body together, and what it answers. */',
    'export interface Routes {',
    ...routes,
    '}',
    '',
  ].join('\n');
}

/** The names of all schemas that a part of the document leads to. Those of callers' routes are not for the console. */
function namesIn(part: unknown, schemas: Readonly<Record<string, Schema>>, known = new Set<string>()): Set<string> {
  for (const [, name] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (known.has(name!)) continue;
    known.add(name!);
    namesIn(schemas[name!], schemas, known);
  }
  return known;
}

function routeType(method: string, path: string, operation: Operation | undefined): string[] {
  if (operation === undefined) return [];
  const body = operation.requestBody?.content['application/json']?.schema;
  const given = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'path' || parameter.in === 'query')
    .map(({ name, schema, in: place }) => inputMember(name, schema, place === 'path'));
  const written = Object.entries((body?.properties ?? {}) as Record<string, Schema>).map(([name, schema]) =>
    inputMember(name, schema, requiredOf(body!).includes(name)),
  );
  const [, answer] = Object.entries(operation.responses).find(([status]) => status.startsWith('2')) ?? [];
  const output = answer?.content?.['application/json']?.schema;
  const input = [...given, ...written].join(' ');
  return [
    `  '${method.toUpperCase()} ${path}': { input: {${input === '' ? '' : ` ${input} `}}; output: ${output === undefined ? 'unknown' : typeOf(output, '')} };`,
  ];
}

function membersOf(schema: Schema): string {
  const required = requiredOf(schema);
  const members = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  return `{\n${members.map(([name, each]) => `  ${member(name, each, required.includes(name))}\n`).join('')}}`;
}

function member(name: string, schema: Schema, isRequired: boolean): string {
  return `${/^\w+$/.test(name) ? name : `'${name}'`}${isRequired ? '' : '?'}: ${typeOf(schema, name)};`;
}

/** A page may pass `undefined` for what it does not name: the client leaves it out. */
function inputMember(name: string, schema: Schema, isRequired: boolean): string {
  return member(name, schema, isRequired).replace(/;$/, isRequired ? ';' : ' | undefined;');
}

function requiredOf(schema: Schema): readonly string[] {
  return (schema.required ?? []) as readonly string[];
}

/** The name decides what is an amount: the console reads every member that ends in `_nanousd` as a bigint. */
function typeOf(schema: Schema, name: string): string {
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1)!;
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.map(literal).join(' | ');
  if (Array.isArray(schema.anyOf)) {
    const types = (schema.anyOf as Schema[]).map((each) => typeOf(each, name));
    const amounts = types.includes('bigint') ? types.filter((type) => type !== 'string') : types;
    return [...new Set(amounts)].join(' | ');
  }
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type }, name)).join(' | ');
  if (schema.type === 'integer' || schema.type === 'number') return name.endsWith('_nanousd') ? 'bigint' : 'number';
  if (schema.type === 'array') return `readonly (${typeOf((schema.items ?? {}) as Schema, '')})[]`;
  if (schema.type === 'object') return objectType(schema);
  return typeof schema.type === 'string' ? schema.type : 'unknown';
}

function objectType(schema: Schema): string {
  if (schema.properties !== undefined) return membersOf(schema).replaceAll(/\s+/g, ' ');
  const values = schema.additionalProperties;
  return `Readonly<Record<string, ${typeof values === 'object' ? typeOf(values as Schema, '') : 'unknown'}>>`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : String(value);
}
