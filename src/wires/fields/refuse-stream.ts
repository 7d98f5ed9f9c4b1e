import { GatewayError } from '../../canonical/errors.ts';
import { isAbsent, type Members } from './members.ts';

/** For wires that do not stream. */
export function refuseStream({ stream }: Members, wire: string): void {
  if (isAbsent(stream) || stream === false) return;
  throw new GatewayError('unsupported_parameter', {
    param: 'stream',
    message: `\`stream\` is not supported on ${wire}; leave it out.`,
  });
}
