import { describe, expect, test } from 'vitest';
import { ConnectionRoom, type Seat } from './connection-room.ts';

interface Room {
  readonly room: ConnectionRoom;
  readonly closed: string[];
  take(name: string): Seat;
}

function roomFor(max: number): Room {
  const room = new ConnectionRoom(max);
  const closed: string[] = [];
  return { room, closed, take: (name) => room.take(() => closed.push(name))! };
}

describe('a full room', () => {
  test('closes the connection that has been idle for longest', () => {
    const { room, closed, take } = roomFor(3);
    const first = take('first');
    take('second');
    take('third');
    room.enter('working', first);
    room.enter('idle', first);
    take('fourth');
    expect(closed).toEqual(['second']);
    take('fifth');
    take('sixth');
    expect(closed).toEqual(['second', 'third', 'first']);
    expect([room.taken, room.closed]).toEqual([3, 3]);
  });

  test('closes a connection that receives a body only if none is idle', () => {
    const { room, closed, take } = roomFor(2);
    room.enter('receiving', take('receiving'));
    take('idle');
    take('new');
    expect(closed).toEqual(['idle']);
    room.enter('working', take('newest'));
    expect(closed).toEqual(['idle', 'new']);
    room.enter('working', take('last'));
    expect(closed).toEqual(['idle', 'new', 'receiving']);
  });

  test('never closes a connection that works on an answer, but refuses the new one', () => {
    const { room, closed, take } = roomFor(2);
    const first = take('first');
    room.enter('working', first);
    room.enter('working', take('second'));
    expect(room.take(() => {})).toBeNull();
    expect([closed, room.taken, room.closed]).toEqual([[], 2, 1]);
    room.leave(first);
    expect(take('third')).not.toBeNull();
  });
});

test('a seat is given back once, however often its connection closes', () => {
  const { room, take } = roomFor(3);
  const seat = take('one');
  take('two');
  room.leave(seat);
  room.leave(seat);
  room.enter('idle', seat);
  expect(room.taken).toBe(1);
});
