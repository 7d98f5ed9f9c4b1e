import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { mustBe } from '../fields/request-errors.ts';

/** Whether the caller wants a usage frame, by `stream_options` or by the `usage` field of aggregators. */
export function readWantsUsage(body: Members): boolean {
  const { stream_options: options, usage } = body;
  if (isObject(options)) {
    if (body.stream !== true) throw mustBe('stream_options', 'left out unless `stream` is true');
    const include = options.include_usage;
    if (!isAbsent(include) && typeof include !== 'boolean') {
      throw mustBe('stream_options.include_usage', 'true or false');
    }
    if (include === true) return true;
  }
  return isObject(usage) && usage.include === true;
}
