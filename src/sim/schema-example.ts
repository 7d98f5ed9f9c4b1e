import { LIMITS } from '../limits.ts';

type Schema = Record<string, unknown>;

/** Below the first depth only required properties are filled in, below the second none: schemas may contain themselves. */
const OPTIONAL_DEPTH_MAX = 4;
const DEPTH_MAX = 24;

/** A value that fits the JSON schema; the same one for the same schema. */
export function exampleOf(schema: unknown): unknown {
  return new ExampleMaker(schema).make(schema, 0);
}

class ExampleMaker {
  readonly #root: unknown;
  #valuesLeft: number = LIMITS.simSchemaValuesMax;

  constructor(root: unknown) {
    this.#root = root;
  }

  make(schema: unknown, depth: number): unknown {
    if (!isSchema(schema)) return 'sample';
    if (depth > DEPTH_MAX || this.#valuesLeft-- <= 0) return null;
    const given = givenValue(schema);
    if (given !== undefined) return given;
    const inner = this.#chooseBranch(schema);
    if (inner !== undefined) return this.make(inner, depth + 1);
    return this.#makeOfType(schema, depth);
  }

  #chooseBranch(schema: Schema): unknown {
    if (typeof schema.$ref === 'string') return this.#resolve(schema.$ref);
    for (const key of ['anyOf', 'oneOf']) {
      const branches = schema[key];
      if (Array.isArray(branches) && branches.length > 0) return branches[0];
    }
    const all = schema.allOf;
    return Array.isArray(all) ? mergeAll(schema, all) : undefined;
  }

  #resolve(ref: string): unknown {
    if (!ref.startsWith('#')) return {};
    let target: unknown = this.#root;
    for (const part of ref.split('/').slice(1)) {
      const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
      target = isSchema(target) && Object.hasOwn(target, name) ? target[name] : {};
    }
    return target;
  }

  #makeOfType(schema: Schema, depth: number): unknown {
    switch (typeOf(schema)) {
      case 'object':
        return this.#makeObject(schema, depth);
      case 'array':
        return this.#makeArray(schema, depth);
      case 'integer':
      case 'number':
        return exampleNumber(schema);
      case 'boolean':
        return true;
      case 'null':
        return null;
      default:
        return exampleString(schema);
    }
  }

  #makeObject(schema: Schema, depth: number): unknown {
    const properties = isSchema(schema.properties) ? schema.properties : {};
    const required = Array.isArray(schema.required) ? schema.required : [];
    const entries: [string, unknown][] = [];
    for (const [name, property] of Object.entries(properties)) {
      if (depth >= OPTIONAL_DEPTH_MAX && !required.includes(name)) continue;
      entries.push([name, this.make(property, depth + 1)]);
    }
    return Object.fromEntries(entries);
  }

  #makeArray(schema: Schema, depth: number): unknown {
    const most = countIn(schema.maxItems, Number.POSITIVE_INFINITY);
    const length = Math.min(countIn(schema.minItems, depth < OPTIONAL_DEPTH_MAX ? 1 : 0), most);
    const items: unknown[] = [];
    while (items.length < length && this.#valuesLeft > 0) items.push(this.make(schema.items ?? {}, depth + 1));
    return items;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function givenValue(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum) && schema.enum.length > 0) return schema.enum[0];
  return schema.default;
}

function mergeAll(schema: Schema, all: unknown[]): Schema {
  const { allOf: _, ...merged } = schema;
  for (const part of all) {
    if (!isSchema(part)) continue;
    const properties = { ...asSchema(merged.properties), ...asSchema(part.properties) };
    Object.assign(merged, part, { properties });
  }
  return merged;
}

function asSchema(value: unknown): Schema {
  return isSchema(value) ? value : {};
}

function typeOf(schema: Schema): unknown {
  const type = schema.type;
  if (Array.isArray(type)) return type.find((name) => name !== 'null') ?? 'null';
  if (type !== undefined) return type;
  if (schema.properties !== undefined) return 'object';
  return schema.items === undefined ? 'string' : 'array';
}

function countIn(value: unknown, otherwise: number): number {
  return typeof value === 'number' && value >= 0 ? value : otherwise;
}

function exampleNumber(schema: Schema): number {
  const step = countIn(schema.multipleOf, 1) || 1;
  const least = numberIn(schema.minimum) ?? above(numberIn(schema.exclusiveMinimum), step);
  if (least !== undefined) return Math.ceil(least / step) * step;
  const most = numberIn(schema.maximum) ?? above(numberIn(schema.exclusiveMaximum), -step);
  return most !== undefined && most < step ? Math.floor(most / step) * step : step;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function above(bound: number | undefined, step: number): number | undefined {
  return bound === undefined ? undefined : bound + step;
}

const STRING_FORMATS: Record<string, string> = {
  date: '2026-01-02',
  'date-time': '2026-01-02T03:04:05Z',
  time: '03:04:05Z',
  email: 'sample@example.com',
  uri: 'https://example.com/sample',
  uuid: '00000000-0000-4000-8000-000000000000',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
};

function exampleString(schema: Schema): string {
  const format = schema.format;
  if (typeof format === 'string' && Object.hasOwn(STRING_FORMATS, format)) return STRING_FORMATS[format]!;
  const least = Math.min(countIn(schema.minLength, 0), LIMITS.simSchemaValuesMax);
  return 'sample'.padEnd(least, '-').slice(0, Math.max(least, countIn(schema.maxLength, 'sample'.length)));
}
