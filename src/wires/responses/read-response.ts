import type { EventSink } from '../../canonical/events.ts';
import type { HostQuirks } from '../../canonical/host-quirks.ts';
import { ResponseReader } from './read-stream.ts';
import { parseResponse } from './splice-response.ts';

/** Reads a buffered response into events. */
export function readResponse(body: Buffer, quirks: HostQuirks, emit: EventSink): void {
  new ResponseReader(quirks, emit).answer(parseResponse(body));
}
