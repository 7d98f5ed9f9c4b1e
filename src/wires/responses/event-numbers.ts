import type { Members } from '../fields/members.ts';

/** Numbers the events of one stream without a gap, whoever wrote them. */
export class EventNumbers {
  next = 0;

  write(type: string, members: Members): string {
    return eventText(type, JSON.stringify({ type, ...members, sequence_number: this.next++ }));
  }
}

/** Every frame is named after the type of its event. */
export function eventText(type: string, json: string): string {
  return `event: ${type}\ndata: ${json}\n\n`;
}
