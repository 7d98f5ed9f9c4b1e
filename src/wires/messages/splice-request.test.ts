import { describe, expect, test } from 'vitest';
import { PLAIN, peekAt, refusalOf, textOf } from '../../../test/messages-request.ts';
import { Adjustments } from '../adjustments.ts';
import { wrapForeign } from '../fields/foreign-reasoning.ts';
import type { UpstreamTerms } from '../wire.ts';
import { mayRefuse, noteThinking, spliceRequest } from './splice-request.ts';

const TERMS: UpstreamTerms = {
  hostModel: 'claude-harbour',
  outputLimit: 64,
  outputLimitField: 'max_tokens',
  forwards: [],
  reasoningEffort: null,
  reducesVectors: false,
};

function written(body: string | object, terms: Partial<UpstreamTerms> = {}): string {
  const json = typeof body === 'string' ? body : JSON.stringify(body);
  return spliceRequest(textOf(json), peekAt(json), { ...TERMS, ...terms }).toString();
}

const ODD = `{ "model" :"claude-harbour", "max_tokens": 64,"stream":true,
  "system": [{"type":"text","text":"a\\u0062c","cache_control":{"type":"ephemeral","ttl":"1h"}}],
  "thinking":{"type":"enabled","budget_tokens":3.2e1}, "temperature": 1.0,
  "messages":[{"role":"user","content":"x"},
   {"role":"assistant","content":[{"type":"thinking","thinking":"é\\/","signature":"EqQB\\u002b/=="},
     {"type":"redacted_thinking","data":"seal=="},{"type":"tool_use","id":"t","name":"n","input":{"big":12345678901234567890}}]},
   {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"1.50"}]}] , "from_the_future": [1.0] }`;

test('a request that needs no change is sent byte for byte', () => {
  expect(written(ODD)).toBe(ODD);
});

test('the host’s name for the model is spliced in, and nothing else moves', () => {
  expect(written(ODD, { hostModel: 'vendor/claude' })).toBe(ODD.replace('"claude-harbour"', '"vendor/claude"'));
});

test.each(['6.4e1', '64.0', '64e0'])('the limit leaves as a plain integer, not as %s', (spelling) => {
  expect(written(ODD.replace('64', spelling))).toBe(ODD);
});

test('labels stay here unless the host’s row asks for them', () => {
  const body = { ...PLAIN, metadata: { user_id: 'u' }, user: 'me' };
  expect(JSON.parse(written(body))).toEqual(PLAIN);
  expect(JSON.parse(written(body, { forwards: ['metadata'] }))).toEqual({ ...PLAIN, metadata: { user_id: 'u' } });
});

test('fields of other gateways that ask for nothing are not sent on, the vendor’s own are', () => {
  const own = { service_tier: 'auto', speed: 'standard', inference_geo: 'global' };
  expect(JSON.parse(written({ ...PLAIN, ...own, store: false, models: ['claude-harbour'] }))).toEqual({
    ...PLAIN,
    ...own,
  });
});

test('context management that keeps all thinking is sent on, and without edits it is not', () => {
  const keeping = { ...PLAIN, context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } };
  expect(JSON.parse(written(keeping))).toEqual(keeping);
  for (const nothing of [null, {}, { edits: null }, { edits: [] }]) {
    expect(JSON.parse(written({ ...PLAIN, context_management: nothing }))).toEqual(PLAIN);
  }
});

test('another vendor’s reasoning, from an earlier turn, never leaves; the rest of the turn does', () => {
  const signature = wrapForeign({ vendor: 'somebody', form: 'encrypted', data: 'x', id: 'rs_1' });
  const own = { type: 'thinking', thinking: 'mine', signature: 'EqQB' };
  const turn = (...thinking: object[]) => ({
    ...PLAIN,
    messages: [...PLAIN.messages, { role: 'assistant', content: [...thinking, { type: 'text', text: 'Nine.' }] }],
  });
  expect(JSON.parse(written(turn({ type: 'thinking', thinking: 'theirs', signature }, own)))).toEqual(turn(own));
});

test('a turn that has only another vendor’s reasoning leaves nothing behind: hosts refuse a turn without content', () => {
  const signature = wrapForeign({ vendor: 'somebody', form: 'encrypted', data: 'x' });
  const theirs = { type: 'thinking', thinking: 'theirs', signature };
  const [asked] = PLAIN.messages;
  const messages = [asked, { role: 'assistant', content: [theirs, theirs] }, asked];
  expect(JSON.parse(written({ ...PLAIN, messages })).messages).toEqual([asked, asked]);
});

describe('the reasoning fields of every wire, which hosts of this one do not know', () => {
  const ROOMY = { ...PLAIN, max_tokens: 10_000 };
  const ROOMY_TERMS = { outputLimit: 10_000, thinking: 'budget', reasoningEffort: 'high' } as const;

  test.each([
    { reasoning_effort: 'high' },
    { reasoning: { effort: 'high' } },
    { reasoning_effort: 'high', reasoning: { effort: 'high' }, thinking: null },
  ])('%j becomes a thinking budget', (fields) => {
    const { thinking, ...rest } = JSON.parse(written({ ...ROOMY, ...fields }, ROOMY_TERMS));
    expect(rest).toEqual(ROOMY);
    expect(thinking).toEqual({ type: 'enabled', budget_tokens: 8000 });
  });

  test('a budget is sent as it is, and no effort as no thinking', () => {
    const low = { ...ROOMY_TERMS, reasoningEffort: 'low' };
    expect(JSON.parse(written({ ...ROOMY, reasoning: { max_tokens: 3000 } }, low)).thinking).toEqual({
      type: 'enabled',
      budget_tokens: 3000,
    });
    const off = { ...ROOMY_TERMS, reasoningEffort: 'none' };
    expect(JSON.parse(written({ ...ROOMY, reasoning_effort: 'none' }, off)).thinking).toEqual({ type: 'disabled' });
  });

  test('a model that takes an effort word gets it beside the caller’s own settings', () => {
    const adaptive = { ...ROOMY_TERMS, thinking: 'effort' } as const;
    const bare = JSON.parse(written({ ...ROOMY, reasoning_effort: 'high', output_config: null }, adaptive));
    expect(bare).toMatchObject({ thinking: { type: 'adaptive' }, output_config: { effort: 'high' } });
    const format = { type: 'json_schema', schema: {} };
    const both = JSON.parse(written({ ...ROOMY, reasoning_effort: 'high', output_config: { format } }, adaptive));
    expect(both.output_config).toEqual({ format, effort: 'high' });
  });

  test('values that ask for nothing are left out', () => {
    const fields = { reasoning: {}, reasoning_effort: null, include_reasoning: true, stream_options: {} };
    expect(JSON.parse(written({ ...PLAIN, ...fields }))).toEqual(PLAIN);
  });

  test('the caller’s own setting that agrees with them stays as it was written', () => {
    const thinking = { type: 'enabled', budget_tokens: 3000 };
    const body = { ...ROOMY, thinking, reasoning: { max_tokens: 3000 } };
    expect(JSON.parse(written(body, ROOMY_TERMS))).toEqual({ ...ROOMY, thinking });
  });

  test.each([
    [{ reasoning: { exclude: true } }, 'reasoning.exclude'],
    [{ include_reasoning: false }, 'include_reasoning'],
  ])('%j is refused: thinking cannot be hidden and sent back', (fields, param) => {
    const refused = refusalOf(() => written({ ...ROOMY, ...fields }, ROOMY_TERMS));
    expect(refused).toEqual({ code: 'unsupported_parameter', param });
  });

  test.each([
    [{ reasoning: { enabled: false, exclude: true } }, { ...ROOMY_TERMS, reasoningEffort: 'none' }],
    [
      { reasoning_effort: 'none', include_reasoning: false },
      { ...ROOMY_TERMS, reasoningEffort: 'none' },
    ],
    [{ reasoning: { exclude: true } }, { outputLimit: 10_000, thinking: null }],
  ])('%j is accepted where there is nothing to hide', (fields, terms) => {
    const { thinking, ...rest } = JSON.parse(written({ ...ROOMY, ...fields }, terms));
    expect(rest).toEqual(ROOMY);
    expect(thinking ?? { type: 'disabled' }).toEqual({ type: 'disabled' });
  });

  test('an effort beside adaptive thinking that names none is sent in the field of this wire', () => {
    const terms = { ...ROOMY_TERMS, thinking: 'effort', reasoningEffort: 'medium' } as const;
    const body = { ...ROOMY, thinking: { type: 'adaptive' }, reasoning_effort: 'medium' };
    const sent = { ...ROOMY, thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } };
    expect(JSON.parse(written(body, terms))).toEqual(sent);
  });

  test.each(['budget', null] as const)('the same for a model whose row has %s', (thinking) => {
    const body = { ...ROOMY, thinking: { type: 'adaptive' }, reasoning_effort: 'low' };
    const sent = { ...ROOMY, thinking: { type: 'adaptive' }, output_config: { effort: 'low' } };
    expect(JSON.parse(written(body, { ...ROOMY_TERMS, thinking, reasoningEffort: 'low' }))).toEqual(sent);
  });

  describe('where the model must call a tool', () => {
    const FORCED = { ...ROOMY, tools: [{ name: 'f', input_schema: { type: 'object' } }], tool_choice: { type: 'any' } };

    test('no limit is too low for reasoning that is left out', () => {
      const body = { ...FORCED, max_tokens: 500 };
      const terms = { ...ROOMY_TERMS, outputLimit: 500 };
      expect(JSON.parse(written({ ...body, reasoning_effort: 'high' }, terms))).toEqual(body);
    });

    test('there is nothing to hide', () => {
      const fields = { reasoning: { effort: 'high', exclude: true } };
      expect(JSON.parse(written({ ...FORCED, ...fields }, ROOMY_TERMS))).toEqual(FORCED);
    });

    test('the effort of the caller’s own is left out with its thinking, and named', () => {
      const body = { ...FORCED, output_config: { effort: 'max' }, reasoning_effort: 'max' };
      const terms = { ...ROOMY_TERMS, thinking: 'effort', reasoningEffort: 'max' } as const;
      const sent = JSON.parse(written(body, terms));
      expect([sent.thinking, sent.output_config]).toEqual([{ type: 'disabled' }, {}]);
      const adjustments = new Adjustments(false);
      noteThinking(textOf(body), { ...TERMS, ...terms }, adjustments);
      expect(adjustments.describe(null)).toBe('reasoning_effort=dropped,output_config.effort=dropped');
    });
  });

  test('only a request that has them is written before the hold, since only that one may be refused', () => {
    expect(mayRefuse(textOf(ODD))).toBe(false);
    expect(mayRefuse(textOf({ ...PLAIN, reasoning_effort: 'low' }))).toBe(true);
  });
});
