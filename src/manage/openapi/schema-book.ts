import { z } from 'zod';
import { stringifyJson } from '../../json/stringify.ts';

export type JsonSchema = Record<string, unknown>;

/** Turns zod schemas into JSON Schema, and collects those that have a name as components of the document. */
export class SchemaBook {
  readonly components: Record<string, JsonSchema> = {};

  /** Members that only operators see are optional, because others do not get them. */
  response(schema: z.ZodType, operatorMembers: readonly string[] = []): JsonSchema {
    return this.#named(convert(schema, 'output', operatorMembers));
  }

  /** What a request may contain, before defaults are filled in. */
  request(schema: z.ZodType): JsonSchema {
    return this.#named(convert(schema, 'input', []));
  }

  #named({ $defs = {}, ...rest }: JsonSchema): JsonSchema {
    for (const [name, definition] of Object.entries($defs as Record<string, JsonSchema>)) this.#add(name, definition);
    return rest;
  }

  #add(name: string, definition: JsonSchema): void {
    const known = this.components[name];
    if (known !== undefined && stringifyJson(known) !== stringifyJson(definition))
      throw new Error(`Two routes describe ${name} differently.`);
    this.components[name] = definition;
  }
}

/** The same, member by member. */
export function inputSchema(schema: z.ZodType): {
  properties: Record<string, JsonSchema>;
  required: readonly string[];
} {
  const { properties = {}, required = [] } = convert(schema, 'input', []);
  return { properties: properties as Record<string, JsonSchema>, required: required as readonly string[] };
}

function convert(schema: z.ZodType, io: 'input' | 'output', operatorMembers: readonly string[]): JsonSchema {
  const converted = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const { type } = zodSchema._zod.def;
      if (type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' });
      if (type === 'readonly') delete jsonSchema.readOnly;
      if (type === 'object' && io === 'output') open(jsonSchema, operatorMembers);
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const { $schema: _, ...rest } = converted;
  return pointToComponents(rest) as JsonSchema;
}

/** A later version may add members, so clients must not insist on those of today. */
function open(schema: JsonSchema, operatorMembers: readonly string[]): void {
  delete schema.additionalProperties;
  const properties = schema.properties as Record<string, JsonSchema>;
  const hidden = operatorMembers.filter((name) => name in properties);
  if (hidden.length === 0) return;
  schema.required = (schema.required as string[]).filter((name) => !hidden.includes(name));
  for (const name of hidden) {
    const { description, ...member } = properties[name]!;
    properties[name] = { ...member, description: [description, 'Only operators see it.'].filter(Boolean).join(' ') };
  }
}

function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents);
  if (typeof value === 'string') return value.replace(/^#\/\$defs\//, '#/components/schemas/');
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, pointToComponents(member)]));
}
