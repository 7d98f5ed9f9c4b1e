import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FORBIDDEN_IPV4, FORBIDDEN_IPV6 } from '../src/egress/address.ts';
import { EgressFailure, type ForbiddenReason, ForbiddenUrl } from '../src/egress/forbidden-url.ts';
import type { GuardedEgress } from '../src/egress/guarded-egress.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { LIMITS } from '../src/limits.ts';
import { HOSTILE_LOCALLY, HOSTILE_URLS } from './egress/hostile-urls.ts';
import { GOOD_URLS, World } from './egress/world.ts';
import { Notes } from './http1-host.ts';
import { until } from './until.ts';

/** The first answer is public, every other one this machine: what a rebinding name server does. */
let world: World;

beforeAll(async () => {
  world = await World.start((name, family, nth) => {
    if (family === 6) return [];
    if (name.startsWith('once.')) return [nth === 0 ? '93.184.216.34' : '127.0.0.1'];
    return [nth % 2 === 0 ? '93.184.216.34' : '169.254.169.254'];
  });
});

afterAll(() => world.close());

beforeEach(() => {
  world.dialed.length = 0;
  world.namesAsked.length = 0;
});

async function reasonOf(work: () => Promise<unknown>): Promise<ForbiddenReason | string> {
  try {
    await work();
    return 'let pass';
  } catch (error) {
    if (error instanceof ForbiddenUrl) return error.reason;
    return error instanceof EgressFailure ? error.fault : String(error);
  }
}

describe('hostile URLs', () => {
  it('are at least 150, all different', () => {
    const all = [...HOSTILE_URLS, ...HOSTILE_LOCALLY].map(([url]) => url);
    expect(all.length).toBeGreaterThanOrEqual(150);
    expect(new Set(HOSTILE_URLS.map(([url]) => url)).size).toBe(HOSTILE_URLS.length);
  });

  for (const [mode, urls, allowLoopback] of [
    ['hosted', HOSTILE_URLS, false],
    ['local', HOSTILE_LOCALLY, true],
  ] as const) {
    it(`are refused in ${mode} mode for the reason they are hostile, and nothing is dialed`, async () => {
      const guard = world.guard({ allowLoopback });
      const told: [string, string][] = [];
      for (const [url] of urls) told.push([url, await reasonOf(() => guard.vet(url))]);
      expect(told).toEqual(urls);
      expect(world.dialed).toEqual([]);
      await guard.close();
    });

    it(`are refused in ${mode} mode at the dial too, for rows that were stored when they still were good`, async () => {
      const guard = world.guard({ allowLoopback });
      const told: [string, string][] = [];
      for (const [url] of urls) {
        told.push([url, await reasonOf(async () => guard.request(guard.recall(url), { method: 'GET' }))]);
      }
      expect(told).toEqual(urls);
      expect(world.dialed).toEqual([]);
      await guard.close();
    });
  }

  it('are dialed without the guard: the harness can tell', async () => {
    for (const [url] of [...HOSTILE_URLS, ...HOSTILE_LOCALLY]) await world.callUnguarded(url);
    expect(world.forbiddenDials.length).toBeGreaterThan(100);
  });

  it('are refused in words that name the remedy, and never the address a name resolves to', async () => {
    const guard = world.guard();
    for (const [url] of HOSTILE_URLS) {
      const error = await guard.vet(url).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ForbiddenUrl);
      const { message } = error as ForbiddenUrl;
      expect(message).toMatch(/^(The URL|Not a URL).{10,160}\.$/);
      expect(message).not.toMatch(/\d+\.\d+\.\d+\.\d+|attacker/);
    }
    await guard.close();
  });
});

describe('good URLs', () => {
  it('are 20, and each is reached at a public address by its own name', async () => {
    expect(new Set(GOOD_URLS).size).toBe(20);
    const guard = world.guard();
    for (const url of GOOD_URLS) {
      const vetted = await guard.vet(url);
      const { status, body } = await guard.request(vetted, { method: 'GET' });
      expect([url, status, body.toString()]).toEqual([url, 200, `GET ${vetted.path}`]);
    }
    expect(world.dialed).toHaveLength(20);
    expect(world.forbiddenDials).toEqual([]);
    expect(world.namesAsked.slice(0, 2)).toEqual(['api.good.example', 'api.good.example']);
    await guard.close();
  });

  it('lead to this machine in local mode, if they say so', async () => {
    const guard = world.guard({ allowLoopback: true });
    for (const url of ['http://127.0.0.1:11434/v1', 'http://localhost:8000', 'https://[::1]/', 'http://127.0.0.9']) {
      expect((await guard.vet(url)).loopback).toBe(true);
    }
    await guard.close();
  });

  it('are not called if their certificate is for someone else', async () => {
    const guard = world.guard({ resolve: async () => ['93.184.216.34'] });
    expect(await reasonOf(() => guard.request(guard.recall('https://elsewhere.example/'), {}))).toBe('certificate');
    expect(await reasonOf(() => guard.request(guard.recall('https://api.good.example/'), {}))).toBe('let pass');
    await guard.close();
    const mistrusting = world.guard({ certificateAuthorities: '' });
    const url = mistrusting.recall('https://api.good.example/');
    expect(await reasonOf(() => mistrusting.request(url, {}))).toBe('certificate');
    await mistrusting.close();
  });
});

describe('rebinding', () => {
  it('of a name between its vetting and its dial is refused at the dial', async () => {
    const guard = world.guard();
    const vetted = await guard.vet('https://once.moving.example/');
    expect(await reasonOf(() => guard.request(vetted, { method: 'GET' }))).toBe('address');
    expect(world.dialed).toEqual([]);
    await guard.close();
  });

  it('at every question is never dialed: each dial goes to what was judged for it', async () => {
    const guard = world.guard();
    const vetted = guard.recall('https://often.moving.example/');
    const told: string[] = [];
    for (let call = 0; call < 40; call++) told.push(await reasonOf(() => guard.request(vetted, { method: 'GET' })));
    expect(told.filter((one) => one === 'let pass')).toHaveLength(20);
    expect(told.filter((one) => one === 'address')).toHaveLength(20);
    expect(world.forbiddenDials).toEqual([]);
    expect(world.dialed).toHaveLength(20);
    expect(world.names.questions('often.moving.example')).toBe(40);
    await guard.close();
  });
});

describe('answers', () => {
  const TARGETS = [
    'http://169.254.169.254/',
    'https://127.0.0.1/',
    'https://api.good.example/',
    '/elsewhere',
    '//x',
    '',
  ];

  function ask(guard: GuardedEgress, path: string, bounds = {}): Promise<string> {
    const url = guard.recall('https://api.good.example');
    return reasonOf(() => guard.request(url, { method: 'GET', path }, bounds));
  }

  it('that redirect are refused, wherever they lead', async () => {
    const guard = world.guard();
    for (const status of [300, 301, 302, 303, 304, 305, 307, 308, 399]) {
      for (const to of TARGETS) {
        expect(await ask(guard, `/?status=${status}&to=${encodeURIComponent(to)}`)).toBe('redirect');
      }
    }
    expect(new Set(world.dialed.map(({ address }) => address))).toEqual(new Set(['93.184.216.34']));
    await guard.close();
  });

  it('of other statuses are given as they are', async () => {
    const guard = world.guard();
    const url = guard.recall('https://api.good.example/');
    for (const status of [200, 201, 400, 401, 404, 429, 500]) {
      const answer = await guard.request(url, { method: 'GET', path: `/?status=${status}&to=/x` });
      expect(answer.status).toBe(status);
    }
    await guard.close();
  });

  it('that are too large, or break off, are none', async () => {
    const guard = world.guard();
    expect(await ask(guard, '/endless', { maxBytes: 1000 })).toBe('too_large');
    expect(await ask(guard, '/broken')).toBe('broken');
    await guard.close();
  });

  it('that do not come in time are none', async () => {
    const clock = new ManualClock();
    const guard = world.guard({ clock });
    world.onSilent = () => clock.advance(LIMITS.callerAnswerMs);
    expect(await ask(guard, '/silent')).toBe('timeout');
    await guard.close();
  });

  it('of a name server that do not come in time are none', async () => {
    const clock = new ManualClock();
    const guard = world.guard({ clock, resolve: () => new Promise(() => {}) });
    const told = reasonOf(() => guard.vet('https://api.good.example/'));
    await until(() => clock.pendingTimers > 0, 'the lookup is under way');
    clock.advance(LIMITS.callerUrlLookupMs);
    expect(await told).toBe('timeout');
    await guard.close();
  });
});

describe('dialing', () => {
  it('goes on to the next address of a host that does not accept the connection', async () => {
    const guard = world.guard({
      dial: (target) => {
        const socket = world.dial(target);
        if (target.address === '93.184.216.34') socket.destroy(new Error('refused'));
        return socket;
      },
    });
    const answer = await guard.request(guard.recall('https://two.good.example/'), { method: 'GET' });
    expect(answer.status).toBe(200);
    expect(world.dialed.map(({ address }) => address)).toEqual(['93.184.216.34', '93.184.216.35']);
    await guard.close();
  });

  it('gives up when nobody takes the connection, without telling our network', async () => {
    const guard = world.guard({
      dial: (target) => world.dial(target).destroy(Object.assign(new Error('no'), { code: 'EHOSTUNREACH' })),
    });
    const error = await guard.request(guard.recall('https://two.good.example/'), {}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ fault: 'unreachable', message: 'The host cannot be reached.' });
    await guard.close();
  });

  it('is aborted for a request that is cancelled, and does not go on to the next address', async () => {
    const dialled: Socket[] = [];
    const guard = world.guard({
      dial: () => {
        const socket = new Socket();
        dialled.push(socket);
        return socket;
      },
    });
    const notes = new Notes();
    const request = guard.send(guard.recall('https://two.good.example/'), {}, notes);
    await until(() => dialled.length === 1, 'the dial is under way');
    request.cancel();
    expect(dialled[0]!.destroyed).toBe(true);
    await new Promise(setImmediate);
    expect([dialled.length, notes.seen]).toEqual([1, []]);
    await guard.close();
  });

  it('does not begin for a request that was cancelled while its host was looked up', async () => {
    const lookup = Promise.withResolvers<string[]>();
    const guard = world.guard({ resolve: () => lookup.promise });
    const notes = new Notes();
    guard.send(guard.recall('https://api.good.example/'), {}, notes).cancel();
    lookup.resolve(['93.184.216.34']);
    await new Promise(setImmediate);
    expect([world.dialed, notes.seen]).toEqual([[], []]);
    await guard.close();
  });

  it('gives up when a connection takes too long', async () => {
    const clock = new ManualClock();
    const guard = world.guard({ clock, dial: () => new Socket() });
    const told = reasonOf(() => guard.request(guard.recall('https://api.good.example/'), {}));
    await until(() => clock.fallsDueIn(LIMITS.callerUrlConnectMs), 'the dial is under way');
    clock.advance(LIMITS.callerUrlConnectMs);
    expect(await told).toBe('timeout');
    await guard.close();
  });
});

describe('docs/egress.md', () => {
  const page = readFileSync(new URL('../docs/egress.md', import.meta.url), 'utf8');

  it('lists every block that is forbidden, and what it is', () => {
    for (const [block, kind] of [...FORBIDDEN_IPV4, ...FORBIDDEN_IPV6])
      expect(page).toContain(`| \`${block}\` | ${kind} |`);
  });

  it('lists every reason', () => {
    for (const reason of new Set(HOSTILE_URLS.map(([, one]) => one))) expect(page).toContain(`| \`${reason}\` |`);
  });
});
