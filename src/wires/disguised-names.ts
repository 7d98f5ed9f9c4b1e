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
const PLAIN = /^[a-z0-9_]*$/;

/**
 * Some hosts read names without regard to case, and would take `Model` for `model`: one model would be priced and
 * another run. A name that only looks different is refused.
 */
export function refuseDisguised(body: unknown): void {
  if (!isObject(body)) return;
  checkNames(body, '');
  if (isObject(body.stream_options)) checkNames(body.stream_options, 'stream_options.');
}

function checkNames(object: Members, path: string): void {
  for (const name of Object.keys(object)) {
    if (PLAIN.test(name)) continue;
    // Up and down again, since a long s and a Kelvin sign have a plain letter only on the other side.
    const folded = name.toUpperCase().toLowerCase();
    if (folded !== name && DECIDING.has(folded)) throw disguised(path + name, path + folded);
  }
}
