import { expect, test } from 'vitest';
import { SseFrame } from '../../kit/sse.ts';
import { readTwoLineFrame } from './two-line-frame.ts';

test('a name and one data line are read without cutting the frame into lines', () => {
  const frame = new SseFrame(Buffer.from('event: response.created\ndata: {"a":"é"}\n\n'));
  expect(readTwoLineFrame(frame)).toEqual({ name: 'response.created', data: '{"a":"é"}' });
  expect([frame.event, frame.data]).toEqual(['response.created', '{"a":"é"}']);
});

test.each([
  'data: {}\n\n',
  ': comment\n\n',
  'event: a\n\n',
  'event: a\ndata:{}\n\n',
  'event:a\ndata: {}\n\n',
  'event: a\nid: 1\ndata: {}\n\n',
  'event: a\ndata: {\ndata: }\n\n',
  'event: a\r\ndata: {}\r\n\r\n',
  'event: a\ndata: {}\rdata: x\n\n',
  'event: a\ndata: {}\n: comment\n\n',
  '\n\n',
  '',
])('any other frame is left to the general reader: %j', (raw) => {
  expect(readTwoLineFrame(new SseFrame(Buffer.from(raw)))).toBeNull();
});
