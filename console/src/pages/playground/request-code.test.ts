import { expect, test } from 'vitest';
import { chatWire } from './chat-wire.ts';
import { requestCode } from './request-code.ts';

const body = { model: 'm', messages: [{ role: 'user', content: "It's" }], stream: true };
const terms = { url: 'http://127.0.0.1:8080', wire: chatWire, body, needsKey: true };

test('quotes the body for a shell', () => {
  expect(requestCode('curl', terms)).toContain(`"content": "It'\\''s"`);
  expect(requestCode('curl', terms)).toContain('Bearer $TOLLGATE_API_KEY');
  expect(requestCode('curl', { ...terms, needsKey: false })).not.toContain('Bearer');
});

test('writes values of JSON as Python has them', () => {
  expect(requestCode('python', terms)).toContain('"stream": True');
});
