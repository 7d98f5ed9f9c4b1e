import type { EventSink } from '../../canonical/events.ts';
import type { HostManners } from '../wire.ts';
import { ResponseReader } from './read-stream.ts';
import { parseAnswer } from './splice-response.ts';

/** A whole answer as the events its stream would have told. */
export function readHubAnswer(body: Buffer, manners: HostManners, emit: EventSink): void {
  new ResponseReader(manners, emit).answer(parseAnswer(body));
}
