import { hasBody, operationIdOf } from '../../src/manage/openapi/management-paths.ts';
import { PUBLIC_BODIES } from '../../src/manage/openapi/public-bodies.ts';
import { PUBLIC_ROUTES, WELL_KNOWN } from '../../src/manage/openapi/public-paths.ts';
import { inputSchema } from '../../src/manage/openapi/schema-book.ts';
import { inputSchemaOf, type ManageRoute } from '../../src/manage/route.ts';
import { MANAGE_ROUTES } from '../../src/manage/routes.ts';

type Ids = Readonly<Record<string, string>>;

/** A program that calls every route of the generated client with its example. It compiles only if their types agree. */
export function callsOfEveryRoute(ids: Ids): string {
  const management = MANAGE_ROUTES.map((route) => `  await call(() => api.manage.${callOf(route, ids)});`);
  const calls = PUBLIC_ROUTES.map((route) => {
    const inPath = [...route.path.matchAll(/\{\w+\}/g)].map(() => "'unknown'");
    const body =
      route.method === 'post' || route.method === 'put' ? [JSON.stringify(PUBLIC_BODIES[route.id]?.example ?? {})] : [];
    const group = route.path.startsWith(WELL_KNOWN) ? 'wellKnown' : 'v1';
    return `  await call(() => api.${group}.${route.id}(${[...inPath, ...body].join(', ')}));`;
  });
  return [
    "import { Api } from './Api.ts';",
    'type Call = (run: () => Promise<unknown>) => Promise<void>;',
    'export async function callEveryRoute(api: Api<unknown>, call: Call): Promise<void> {',
    ...management,
    ...calls,
    '}',
    '',
  ].join('\n');
}

function callOf(route: ManageRoute, ids: Ids): string {
  const input = route.example.input as Record<string, unknown>;
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const rest = Object.fromEntries(Object.entries(input).filter(([name]) => !inPath.includes(name)));
  const takesMore = hasBody(route) || Object.keys(inputSchema(inputSchemaOf(route)).properties).length > inPath.length;
  const values = [...inPath.map((name) => input[name]), ...(takesMore ? [rest] : [])];
  return `${operationIdOf(route)}(${values.map((value) => literal(value, ids)).join(', ')})`;
}

function literal(value: unknown, ids: Ids): string {
  const text = JSON.stringify(value);
  return Object.entries(ids).reduce((written, [example, real]) => written.replaceAll(example, real), text);
}
