import type { Members } from '../fields/members.ts';

/** Numbers the events of one stream without gaps. */
export class EventNumbers {
  next = 0;

  write(type: string, members: Members): string {
    return eventText(type, JSON.stringify({ type, ...members, sequence_number: this.next++ }));
  }
}

/** The frame's event name is the type of its data. */
export function eventText(type: string, json: string): string {
  return `event: ${type}\ndata: ${json}\n\n`;
}
