import { refuse } from './reply.ts';

/** A JSON object as it arrived. */
export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

/** Token ids of another tokenizer in place of text; a plain list of numbers is one input. */
export function areTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Number.isSafeInteger(one) && one >= 0);
}

/** These readers refuse with the messages of the chat wire's vendor, which four of the wires share. */
export function readModel(model: unknown): string {
  if (typeof model === 'string' && model !== '') return model;
  return refuse('missing_required_parameter', 'model', 'You must provide a model parameter.');
}

export function readFlag(fields: Fields, name: string, otherwise: boolean): boolean {
  const value = fields[name];
  if (isAbsent(value)) return otherwise;
  return typeof value === 'boolean'
    ? value
    : refuse('invalid_type', name, `Invalid type for '${name}': expected a boolean.`);
}

export function readInteger(
  fields: Fields,
  name: string,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number | null {
  const value = fields[name];
  if (isAbsent(value)) return null;
  if (!Number.isSafeInteger(value))
    return refuse('invalid_type', name, `Invalid type for '${name}': expected an integer.`);
  if ((value as number) >= least && (value as number) <= most) return value as number;
  return refuse('invalid_value', name, `Invalid '${name}': expected a value from ${least} to ${most}.`);
}

const STOPS_MAX = 4;

export function readStops(stop: unknown): string[] {
  if (isAbsent(stop)) return [];
  const stops: unknown[] = Array.isArray(stop) ? stop : [stop];
  if (stops.length <= STOPS_MAX && stops.every((one) => typeof one === 'string' && one !== ''))
    return stops as string[];
  return refuse(
    'invalid_value',
    'stop',
    `Invalid 'stop': expected a string or up to ${STOPS_MAX} of them, none empty.`,
  );
}

export function readIncludeUsage(body: Fields, stream: boolean): boolean {
  const options = body.stream_options;
  if (isAbsent(options)) return false;
  if (!stream) refuse('invalid_value', 'stream_options', "'stream_options' is only allowed when 'stream' is enabled.");
  if (!isFields(options))
    return refuse('invalid_type', 'stream_options', "Invalid type for 'stream_options': expected an object.");
  return readFlag(options, 'include_usage', false);
}
