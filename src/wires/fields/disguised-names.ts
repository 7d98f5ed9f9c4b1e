import { formatPath } from '../../json/error.ts';
import { isObject, type Members } from './members.ts';
import { REFUSED_EVERYWHERE } from './refused-fields.ts';
import { disguised } from './request-errors.ts';

/** Names that decide what runs, how much it may write and what is told of it, on any wire. */
const DECIDING = new Set([
  ...Object.keys(REFUSED_EVERYWHERE),
  ...['model', 'messages', 'input', 'prompt', 'system', 'instructions', 'state', 'questions'],
  ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'n', 'best_of', 'dimensions'],
  ...['stream', 'stream_options', 'include_usage', 'tools', 'tool_choice', 'functions', 'thinking'],
  ...['reasoning', 'reasoning_effort', 'output_config', 'response_format', 'service_tier', 'modalities'],
]);

/** Names that decide, inside a message, a tool or an option, what is read and what it costs. */
const DECIDING_INSIDE = new Set([
  ...['type', 'role', 'content', 'text', 'refusal', 'name', 'id', 'data', 'url', 'detail', 'media_type'],
  ...['reasoning', 'reasoning_content', 'reasoning_details', 'thinking', 'signature', 'encrypted_content', 'summary'],
  ...['image_url', 'file_id', 'file_url', 'file_data', 'file', 'input_audio', 'audio', 'source', 'title'],
  ...['tool_calls', 'tool_call_id', 'tool_use_id', 'call_id', 'function', 'function_call', 'custom', 'arguments'],
  ...['input', 'output', 'parameters', 'input_schema', 'schema', 'json_schema', 'strict', 'format', 'cache_control'],
  ...['effort', 'mode', 'budget_tokens', 'max_tokens', 'enabled', 'exclude', 'include_usage', 'ttl', 'tools'],
]);

/** Members whose own members are the wire's and not the caller's data; what is not here is never looked into. */
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
    'source',
    'cache_control',
    'summary',
  ],
]);

/**
 * Some hosts read names without regard to case, and would take `Model` for `model`: one model would be priced and
 * another run. A name that only looks different is refused, wherever the name is the wire's own.
 */
export function refuseDisguised(body: unknown): void {
  if (!isObject(body)) return;
  const path: Path = [];
  checkNames(body, DECIDING, path);
  lookInside(body, path);
}

/** The steps to where we are; one list, since nearly every request only passes through. */
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

/** A list of items is the wire's; the input of a tool is the caller's own. */
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
    // Up and down again, since a long s and a Kelvin sign have a plain letter only on the other side.
    const folded = name.toUpperCase().toLowerCase();
    if (folded === name || !deciding.has(folded)) continue;
    const place = path.length === 0 ? '' : `${formatPath(path)}.`;
    throw disguised(place + name, place + folded);
  }
}
