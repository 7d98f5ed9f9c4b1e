import { describe, expect, test } from 'vitest';
import { ConnectionLimit, type ConnectionSlot } from './connection-limit.ts';

interface Limited {
  readonly connections: ConnectionLimit;
  readonly closed: string[];
  take(name: string): ConnectionSlot;
}

function limitedTo(max: number): Limited {
  const connections = new ConnectionLimit(max);
  const closed: string[] = [];
  return { connections, closed, take: (name) => connections.take(() => closed.push(name))! };
}

describe('the limit of connections, once reached,', () => {
  test('closes the connection that has been idle for longest', () => {
    const { connections, closed, take } = limitedTo(3);
    const first = take('first');
    take('second');
    take('third');
    connections.enter('working', first);
    connections.enter('idle', first);
    take('fourth');
    expect(closed).toEqual(['second']);
    take('fifth');
    take('sixth');
    expect(closed).toEqual(['second', 'third', 'first']);
    expect([connections.taken, connections.closed]).toEqual([3, 3]);
  });

  test('closes a connection that receives a body only if none is idle', () => {
    const { connections, closed, take } = limitedTo(2);
    connections.enter('receiving', take('receiving'));
    take('idle');
    take('new');
    expect(closed).toEqual(['idle']);
    connections.enter('working', take('newest'));
    expect(closed).toEqual(['idle', 'new']);
    connections.enter('working', take('last'));
    expect(closed).toEqual(['idle', 'new', 'receiving']);
  });

  test('closes the connection whose answer has been unread for longest only if none is idle or receives a body', () => {
    const { connections, closed, take } = limitedTo(4);
    connections.enter('unread', take('unread'));
    connections.enter('unread', take('unread later'));
    connections.enter('receiving', take('receiving'));
    take('idle');
    for (const name of ['a', 'b', 'c', 'd']) connections.enter('working', take(name));
    expect(closed).toEqual(['idle', 'receiving', 'unread', 'unread later']);
    expect(connections.take(() => {})).toBeNull();
  });

  test('never closes a connection that works on an answer, but refuses the new one', () => {
    const { connections, closed, take } = limitedTo(2);
    const first = take('first');
    connections.enter('working', first);
    connections.enter('working', take('second'));
    expect(connections.take(() => {})).toBeNull();
    expect([closed, connections.taken, connections.closed]).toEqual([[], 2, 1]);
    connections.leave(first);
    expect(take('third')).not.toBeNull();
  });
});

test('a slot is given back once, however often its connection closes', () => {
  const { connections, take } = limitedTo(3);
  const slot = take('one');
  take('two');
  connections.leave(slot);
  connections.leave(slot);
  connections.enter('idle', slot);
  expect(connections.taken).toBe(1);
});
