import { describe, expect, test } from 'vitest';
import type { ConfigProblem } from './problems.ts';
import { readTracing } from './tracing.ts';

const COLLECTOR = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

function read(env: Record<string, string>) {
  const problems: ConfigProblem[] = [];
  return { tracing: readTracing(env, problems), problems };
}

describe('tracing', () => {
  test.each([
    ['no variable is set', {}],
    ['the SDK is disabled', { ...COLLECTOR, OTEL_SDK_DISABLED: 'true' }],
    ['the exporter is none', { ...COLLECTOR, OTEL_TRACES_EXPORTER: 'none' }],
    ['the address is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }],
  ])('is off if %s', (_why, env) => {
    expect(read(env)).toEqual({ tracing: null, problems: [] });
  });

  test.each([
    [COLLECTOR, 'http://collector:4318/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector/otlp/' }, 'https://collector/otlp/v1/traces'],
    [{ ...COLLECTOR, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other/spans' }, 'http://other/spans'],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
  ])('with %j sends to %s', (env, url) => {
    expect(read(env)).toMatchObject({ tracing: { url, serviceName: 'tollgate' }, problems: [] });
  });

  test.each([
    ['parentbased_always_on', undefined, { ratio: 1, followsCaller: true }],
    ['parentbased_traceidratio', '0.25', { ratio: 0.25, followsCaller: true }],
    ['traceidratio', '0', { ratio: 0, followsCaller: false }],
    ['always_off', undefined, { ratio: 0, followsCaller: false }],
  ])('samples by %s %s', (sampler, arg, sampling) => {
    const env = {
      ...COLLECTOR,
      OTEL_TRACES_SAMPLER: sampler,
      ...(arg !== undefined && { OTEL_TRACES_SAMPLER_ARG: arg }),
    };
    expect(read(env)).toMatchObject({ tracing: { sampling }, problems: [] });
  });

  test('reads headers, of which none is ever printed', () => {
    const { tracing } = read({ ...COLLECTOR, OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc,x-team=a' });
    expect(tracing?.headers.authorization?.reveal()).toBe('Bearer abc');
    expect(JSON.stringify(tracing)).not.toContain('abc');
  });

  test.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'secret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '-1'],
    ['OTEL_EXPORTER_OTLP_COMPRESSION', 'brotli'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_TRACES_SAMPLER', 'sometimes'],
    ['OTEL_BSP_MAX_QUEUE_SIZE', 'many'],
  ])('refuses %s=%s by its name, without the value', (name, value) => {
    const { problems } = read({ ...COLLECTOR, [name]: value });
    expect(problems).toMatchObject([{ source: name }]);
    expect(problems[0]!.message).not.toContain(value);
  });

  test('refuses a ratio outside of 0 to 1', () => {
    const { problems } = read({ ...COLLECTOR, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' });
    expect(problems).toMatchObject([{ source: 'OTEL_TRACES_SAMPLER_ARG' }]);
  });
});
