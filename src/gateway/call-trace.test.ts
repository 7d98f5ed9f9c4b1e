import { expect, test } from 'vitest';
import { CallTrace, readTraceparent, readTracestate } from './call-trace.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN_ID = '00f067aa0ba902b7';

test.each([
  [`00-${TRACE_ID}-${SPAN_ID}-01`, { traceId: TRACE_ID, spanId: SPAN_ID, isSampled: true }],
  [`00-${TRACE_ID}-${SPAN_ID}-00`, { traceId: TRACE_ID, spanId: SPAN_ID, isSampled: false }],
  [`cc-${TRACE_ID}-${SPAN_ID}-03-later`, { traceId: TRACE_ID, spanId: SPAN_ID, isSampled: true }],
  [undefined, null],
  ['', null],
  [[`00-${TRACE_ID}-${SPAN_ID}-01`], null],
  [`00-${TRACE_ID}-${SPAN_ID}-01-more`, null],
  [`ff-${TRACE_ID}-${SPAN_ID}-01`, null],
  [`00-${'0'.repeat(32)}-${SPAN_ID}-01`, null],
  [`00-${TRACE_ID}-${'0'.repeat(16)}-01`, null],
  [`00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`, null],
  [`00-${TRACE_ID}-${SPAN_ID}-1`, null],
])('reads the parent %j as %j', (header, parent) => {
  expect(readTraceparent(header)).toEqual(parent);
});

test('passes a tracestate on only beside a valid parent, if it is short and printable', () => {
  const parent = readTraceparent(`00-${TRACE_ID}-${SPAN_ID}-01`);
  expect(readTracestate('a=1,b=2', parent)).toBe('a=1,b=2');
  for (const [header, of] of [
    ['a=1', null],
    ['a'.repeat(513), parent],
    ['a=1\u00e9', parent],
    [undefined, parent],
  ] as const)
    expect(readTracestate(header, of)).toBeNull();
});

test('gives each host a span of its own as its parent', () => {
  const trace = new CallTrace({ traceId: TRACE_ID, parent: null, state: null, isSampled: true });
  const spans = [trace.beginHost('northern', 1), trace.beginHost('eastern', 2)];
  expect(spans.map((span) => trace.headersFor(span))).toEqual(
    spans.map(({ spanId }) => ({ traceparent: `00-${TRACE_ID}-${spanId}-01` })),
  );
  expect(new Set([trace.spanId, ...spans.map(({ spanId }) => spanId)]).size).toBe(3);
});
