import type { Members } from '../fields/members.ts';
import { isSchema } from '../fields/other-members.ts';

const MAPS = ['properties', '$defs', 'definitions'];
const LISTS = ['anyOf', 'allOf', 'oneOf'];

/** Whether an object in this schema has a member that it does not require. Strict mode of other wires takes none. */
export function hasOptionalMember(schema: Members): boolean {
  const { properties, required } = schema;
  const needed = new Set<unknown>(Array.isArray(required) ? required : []);
  if (isSchema(properties) && Object.keys(properties).some((name) => !needed.has(name))) return true;
  return partsOf(schema).some((part) => isSchema(part) && hasOptionalMember(part));
}

function partsOf(schema: Members): unknown[] {
  const maps = MAPS.flatMap((name) => (isSchema(schema[name]) ? Object.values(schema[name]) : []));
  const lists = LISTS.flatMap((name) => (Array.isArray(schema[name]) ? (schema[name] as unknown[]) : []));
  return [...maps, ...lists, schema.items];
}
