import { isAbsent, isObject, type Members } from './members.ts';
import { unsupported } from './request-errors.ts';

/** Only the default cache lifetime has a price; longer ones and prewarming do not. */
export function checkCacheOptions(options: Members, path: string): void {
  const { ttl, prewarm, comparison_response_id: compared } = options;
  if (!isAbsent(ttl) && ttl !== '30m') {
    throw unsupported(`${path}.ttl`, `\`${path}.ttl\` other than "30m" has no price here; leave it out.`);
  }
  if (prewarm === true) {
    throw unsupported(`${path}.prewarm`, `\`${path}.prewarm\` is not supported: every call must produce a response.`);
  }
  if (!isAbsent(compared)) {
    throw unsupported(
      `${path}.comparison_response_id`,
      `\`${path}.comparison_response_id\` is not supported: nothing is stored between calls.`,
    );
  }
}

/** The same for the mark of a message or a part. */
export function checkBreakpoint({ prompt_cache_breakpoint: point }: Members, path: string): void {
  if (isObject(point)) checkCacheOptions(point, `${path}.prompt_cache_breakpoint`);
}
