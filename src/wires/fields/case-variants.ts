import { formatPath } from '../../json/error.ts';
import { isObject, type Members } from './members.ts';
import { REFUSED_EVERYWHERE } from './refused-fields.ts';
import { caseVariant } from './request-errors.ts';

/** Top-level fields of any wire that decide which model runs, its output limit or what is billed. */
const DECIDING = new Set([
  ...Object.keys(REFUSED_EVERYWHERE),
  ...['model', 'messages', 'input', 'prompt', 'system', 'instructions', 'state', 'questions'],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n', 'best_of', 'dimensions'],
  ...['stream', 'stream_options', 'include_usage', 'tools', 'tool_choice', 'functions', 'thinking'],
  ...['reasoning', 'reasoning_effort', 'output_config', 'response_format', 'service_tier', 'modalities'],
]);

/** Fields inside messages, tools and options that decide what the model reads and what it costs. */
const DECIDING_INSIDE = new Set([
  ...['type', 'role', 'content', 'text', 'refusal', 'name', 'id', 'data', 'url', 'detail', 'media_type'],
  ...['reasoning', 'reasoning_content', 'reasoning_details', 'thinking', 'signature', 'encrypted_content', 'summary'],
  ...['image_url', 'file_id', 'file_url', 'file_data', 'filename', 'file', 'input_audio', 'audio', 'source', 'title'],
  ...['tool_calls', 'tool_call_id', 'tool_use_id', 'call_id', 'function', 'function_call', 'custom', 'arguments'],
  ...[
    'input',
    'output',
    'namespace',
    'parameters',
    'input_schema',
    'schema',
    'json_schema',
    'strict',
    'format',
    'cache_control',
  ],
  ...['effort', 'mode', 'budget_tokens', 'max_tokens', 'enabled', 'exclude', 'include_usage', 'ttl', 'tools'],
]);

/** Members whose own members belong to the wire. All others are the caller's data and are not searched. */
const STRUCTURAL = new Set([
  ...['messages', 'system', 'tools', 'functions', 'stream_options', 'thinking', 'reasoning', 'output_config', 'text'],
  ...['response_format', 'output_format', 'json_schema', 'format', 'tool_choice', 'prompt_cache_options'],
  ...[
    'content',
    'tool_calls',
    'function',
    'function_call',
    'custom',
    'image_url',
    'file',
    'source',
    'cache_control',
    'summary',
  ],
]);

/**
 * Refuses fields that differ from a wire's field only in case. Some hosts ignore case and would read `Model` as `model`:
 * one model would be priced and another one run.
 */
export function refuseCaseVariants(body: unknown): void {
  if (!isObject(body)) return;
  const path: Path = [];
  checkNames(body, DECIDING, path);
  lookInside(body, path);
}

/** The path to the current value; one shared list, since nearly every request passes. */
type Path = (string | number)[];

function lookInside(object: Members, path: Path): void {
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (typeof value !== 'object' || !isStructural(name, value)) continue;
    path.push(name);
    look(value, path);
    path.pop();
  }
}

/** A list under `input` or `output` holds items of the wire; an object there is the caller's data. */
function isStructural(name: string, value: unknown): boolean {
  return STRUCTURAL.has(name) || ((name === 'input' || name === 'output') && Array.isArray(value));
}

function look(value: unknown, path: Path): void {
  if (isObject(value)) {
    checkNames(value, DECIDING_INSIDE, path);
    lookInside(value, path);
  } else if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      if (typeof value[at] !== 'object') continue;
      path.push(at);
      look(value[at], path);
      path.pop();
    }
  }
}

function checkNames(object: Members, deciding: ReadonlySet<string>, path: Path): void {
  for (const name of Object.keys(object)) {
    if (deciding.has(name)) continue;
    // Upper case first, then lower: this also folds the long s and the Kelvin sign.
    const folded = name.toUpperCase().toLowerCase();
    if (folded === name || !deciding.has(folded)) continue;
    const place = path.length === 0 ? '' : `${formatPath(path)}.`;
    throw caseVariant(place + name, place + folded);
  }
}
