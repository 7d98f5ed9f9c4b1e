import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly requestBody?: { content: Record<string, { schema: object }> };
  readonly responses: Readonly<Record<string, { content?: Record<string, { schema: object; example?: unknown }> }>>;
}
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

export interface DescribedRoute {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

export function operationsOf(document: Document): DescribedRoute[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
}

export type Matchers = ReadonlyMap<string, ValidateFunction>;

/** Validators by operation and status, or `request`. They refuse members that are not described. */
export function schemasOf(document: Document): Matchers {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(closed({ $id: 'document', components: document.components }) as object);
  const matchers = new Map<string, ValidateFunction>();
  for (const { operation } of operationsOf(document)) {
    const described: Operation['responses'] = { ...operation.responses, request: operation.requestBody ?? {} };
    for (const [status, { content }] of Object.entries(described)) {
      const schema = (content?.['application/json'] ?? content?.['text/event-stream'])?.schema;
      if (schema !== undefined)
        matchers.set(`${operation.operationId} ${status}`, ajv.compile(closed(schema) as object));
    }
  }
  return matchers;
}

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value === 'string') return value.replace(/^#\/components/, 'document#/components');
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
  return 'properties' in members && !('additionalProperties' in members)
    ? { ...members, additionalProperties: false }
    : members;
}
