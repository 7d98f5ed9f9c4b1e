import { describe, expect, test } from 'vitest';
import { ASK, jsonText, refusalBy } from '../../../test/chat-wire.ts';
import { LIMITS } from '../../limits.ts';
import { peek } from './peek.ts';

const TOOL = { type: 'function', function: { name: 'open_gate', parameters: { type: 'object' } } };

const peekAt = (more: object) => peek(jsonText({ ...ASK, ...more }));
const refused = (more: object) => {
  const { code, param } = refusalBy(() => peekAt(more));
  return [code, param];
};

describe('what a plain body asks for', () => {
  test('is one buffered answer with the default limit', () => {
    expect(peekAt({})).toEqual({
      model: 'bridge',
      stream: false,
      wantsUsageFrame: false,
      outputLimit: null,
      defaultOutputLimit: 4096,
      answers: 1,
      needs: [{ capability: 'chat', param: 'model' }],
      size: { textBytes: 5, toolBytes: 0, messages: 1, tools: 0, images: 0, tokenIds: 0 },
      cacheWrites: 'none',
      labels: null,
      reasoning: null,
    });
  });

  const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } };
  const mark = { cache_control: { type: 'ephemeral' } };
  test.each<[string, object, string]>([
    ['at the top', hour, 'one_hour'],
    ['on a message', { messages: [{ role: 'user', content: 'a', ...mark }] }, 'default'],
    ['on a part', { messages: [{ role: 'user', content: [{ type: 'text', text: 'a', ...hour }] }] }, 'one_hour'],
    ['on a tool', { tools: [{ ...TOOL, ...mark }] }, 'default'],
    ['inside a tool', { tools: [{ ...TOOL, function: { ...TOOL.function, ...hour } }] }, 'one_hour'],
    ['in the style of the responses wire', { prompt_cache_options: { mode: 'explicit' } }, 'default'],
  ])('finds a cache mark %s', (_, more, expected) => {
    expect(peekAt(more).cacheWrites).toBe(expected);
  });

  test('null counts as absent in every field', () => {
    const names = ['stream', 'n', 'max_tokens', 'tools', 'provider', 'service_tier', 'modalities', 'metadata', 'stop'];
    const body = Object.fromEntries([...names, 'reasoning', 'store', 'stream_options'].map((name) => [name, null]));
    expect(peekAt(body)).toEqual(peekAt({}));
  });

  test.each([
    [{ stream: true }, false],
    [{ stream: true, stream_options: {} }, false],
    [{ stream: true, stream_options: { include_usage: null } }, false],
    [{ stream: true, stream_options: { include_usage: false } }, false],
    [{ stream: true, stream_options: { include_usage: true } }, true],
    [{ stream: true, usage: { include: true } }, true],
    [{ stream: true, usage: { include: false } }, false],
  ])('%j wants a usage frame: %s', (more, wants) => {
    expect(peekAt(more)).toMatchObject({ stream: true, wantsUsageFrame: wants });
  });
});

describe('the output limit', () => {
  test.each([
    ['{"max_tokens":7}', { tokens: 7, field: 'max_tokens' }],
    ['{"max_completion_tokens":7}', { tokens: 7, field: 'max_completion_tokens' }],
    ['{"max_tokens":9,"max_completion_tokens":7}', { tokens: 7, field: 'max_completion_tokens' }],
    ['{"max_tokens":9,"max_completion_tokens":null}', { tokens: 9, field: 'max_tokens' }],
    ['{"max_tokens":1e3}', { tokens: 1000, field: 'max_tokens' }],
    ['{"max_tokens":100.0}', { tokens: 100, field: 'max_tokens' }],
  ])('of %s is read as a number, the newer field first', (fields, limit) => {
    const body = `{"model":"bridge","messages":[{"role":"user","content":"Hello"}],${fields.slice(1)}`;
    expect(peek(jsonText(body)).outputLimit).toEqual(limit);
  });

  test.each([0, -1, 1.5, '7', true, [7], 2 ** 53])('cannot be %j', (tokens) => {
    for (const field of ['max_tokens', 'max_completion_tokens']) {
      expect(refused({ [field]: tokens })).toEqual(['invalid_value', field]);
    }
    expect(refused({ max_completion_tokens: 5, max_tokens: tokens })).toEqual(['invalid_value', 'max_tokens']);
  });
});

describe('what a model must be able to do', () => {
  const needs = (more: object) => peekAt(more).needs.slice(1);

  test.each([
    [{ tools: [TOOL] }, [{ capability: 'tools', param: 'tools' }]],
    [{ tools: [] }, []],
    [{ functions: [{ name: 'open_gate' }] }, [{ capability: 'tools', param: 'functions' }]],
    [{ reasoning_effort: 'low' }, [{ capability: 'reasoning', param: 'reasoning_effort' }]],
    [{ reasoning: { max_tokens: 2000 } }, [{ capability: 'reasoning', param: 'reasoning' }]],
    [{ reasoning: { enabled: true } }, [{ capability: 'reasoning', param: 'reasoning' }]],
    [{ reasoning_effort: 'none' }, []],
    [{ reasoning: { enabled: false } }, []],
    [{ reasoning: {} }, []],
    [{ reasoning: { exclude: true } }, []],
    [{ include_reasoning: true }, []],
    [{ include_reasoning: false }, []],
  ])('for %j is %j', (more, wanted) => {
    expect(needs(more)).toEqual(wanted);
  });

  test('an image address may be given alone, without an object around it', () => {
    const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: 'https://images.example/1.png' }] }];
    expect(needs({ messages })).toEqual([{ capability: 'images', param: 'messages[0].content[0].image_url' }]);
  });

  test('an image names its own place', () => {
    const image = { type: 'image_url', image_url: { url: 'https://images.example/1.png' } };
    const messages = [
      { role: 'user', content: 'look' },
      { role: 'user', content: [{ type: 'text', text: 'here' }, image, image] },
    ];
    expect(needs({ messages })).toEqual([{ capability: 'images', param: 'messages[1].content[1].image_url' }]);
  });
});

describe('refused by name', () => {
  const REFUSED: readonly (readonly [string, unknown])[] = [
    ['provider', { order: ['someone'] }],
    ['models', ['bridge', 'other']],
    ['models', ['other']],
    ['route', 'fallback'],
    ['fallbacks', ['other']],
    ['transforms', ['middle-out']],
    ['plugins', [{ id: 'web' }]],
    ['preset', 'mine'],
    ['prompt', { id: 'pmpt_1' }],
    ['guardrails', ['strict']],
    ['moderation', true],
    ['truncation', 'auto'],
    ['context_management', [{ type: 'compaction' }]],
    ['previous_response_id', 'resp_1'],
    ['conversation', 'conv_1'],
    ['background', true],
    ['item_reference', 'item_1'],
    ['store', true],
    ['prediction', { type: 'content', content: 'x' }],
    ['web_search_options', { search_context_size: 'low' }],
    ['web_search_options', {}],
    ['search_parameters', {}],
    ['audio', { voice: 'alloy' }],
    ['speed', 'fast'],
    ['best_of', 3],
    ['max_output_tokens', 100],
    ['max_new_tokens', 100],
    ['service_tier', 'flex'],
    ['modalities', ['text', 'audio']],
  ];

  test.each(REFUSED)('%s: %j', (name, value) => {
    expect(refused({ [name]: value })).toEqual(['unsupported_feature', name]);
  });

  test.each([
    ['models', ['bridge']],
    ['models', []],
    ['provider', {}],
    ['plugins', []],
    ['preset', ''],
    ['truncation', 'disabled'],
    ['store', false],
    ['background', false],
    ['best_of', 1],
    ['service_tier', 'auto'],
    ['service_tier', 'default'],
    ['modalities', ['text']],
    ['modalities', []],
  ])('but %s: %j asks for nothing', (name, value) => {
    expect(peekAt({ [name]: value }).model).toBe('bridge');
  });

  const longer = { prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } };
  const part = { type: 'text', text: 'a' };
  test.each([
    [{ prompt_cache_options: { ttl: '12h' } }, 'prompt_cache_options.ttl'],
    [{ tools: [{ type: 'function', function: { name: 'f' }, ...longer }] }, 'tools[0].prompt_cache_breakpoint.ttl'],
    [
      { tools: [{ type: 'function', function: { name: 'f', ...longer } }] },
      'tools[0].function.prompt_cache_breakpoint.ttl',
    ],
    [
      { messages: [{ role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f' }, ...longer }] }] },
      'messages[0].tool_calls[0].prompt_cache_breakpoint.ttl',
    ],
    [{ prompt_cache_options: { prewarm: true } }, 'prompt_cache_options.prewarm'],
    [
      { messages: [{ role: 'user', content: [{ ...part, ...longer }] }] },
      'messages[0].content[0].prompt_cache_breakpoint.ttl',
    ],
    [{ messages: [{ role: 'user', content: 'a', ...longer }] }, 'messages[0].prompt_cache_breakpoint.ttl'],
  ])('a cache that has no price: %j', (body, param) => {
    expect(refused(body)).toEqual(['unsupported_feature', param]);
    expect(peekAt(JSON.parse(JSON.stringify(body).replace('12h', '30m').replace('true', 'false'))).model).toBe(
      'bridge',
    );
  });

  test.each([
    [{ type: 'input_audio', input_audio: { data: '', format: 'wav' } }],
    [{ type: 'video_url', video_url: { url: 'https://videos.example' } }],
  ])('the part %j, which has no price', (part) => {
    const { code, param } = refusalBy(() => peekAt({ messages: [{ role: 'user', content: [part] }] }));
    expect([code, param]).toEqual(['unsupported_feature', 'messages[0].content[0].type']);
  });

  test.each([
    [{ file_id: 'file_1' }, 'unsupported_feature', 'messages[0].content[0].file.file_id'],
    [{ file_data: 'JVBERi0=' }, 'invalid_value', 'messages[0].content[0].file.file_data'],
    ['x', 'invalid_value', 'messages[0].content[0].file'],
  ])('the file %j, which is not in the request', (file, code, param) => {
    expect(refused({ messages: [{ role: 'user', content: [{ type: 'file', file }] }] })).toEqual([code, param]);
  });

  test.each(['web_search', 'code_interpreter', 'mcp', 'file_search'])('the server-side tool %s', (type) => {
    expect(refused({ tools: [TOOL, { type }] })).toEqual(['unsupported_feature', 'tools[1].type']);
  });

  test('audio of an earlier turn', () => {
    const messages = [{ role: 'assistant', audio: { id: 'audio_1' } }];
    expect(refused({ messages })).toEqual(['unsupported_feature', 'messages[0].audio']);
  });
});

describe('wrong by place', () => {
  const WRONG_MESSAGES: readonly (readonly [unknown, string])[] = [
    ['hello', 'messages[0]'],
    [{ content: 'x' }, 'messages[0].role'],
    [{ role: 'owner', content: 'x' }, 'messages[0].role'],
    [{ role: 'user', content: 7 }, 'messages[0].content'],
    [{ role: 'user', content: ['x'] }, 'messages[0].content[0]'],
    [{ role: 'user', content: [{ text: 'x' }] }, 'messages[0].content[0].type'],
    [{ role: 'user', content: [{ type: 'text' }] }, 'messages[0].content[0].text'],
    [{ role: 'user', content: 'x', name: 7 }, 'messages[0].name'],
    [{ role: 'assistant', refusal: 7 }, 'messages[0].refusal'],
    [{ role: 'assistant', reasoning: {} }, 'messages[0].reasoning'],
    [{ role: 'assistant', reasoning_details: [7] }, 'messages[0].reasoning_details'],
    [{ role: 'assistant', tool_calls: {} }, 'messages[0].tool_calls'],
    [{ role: 'assistant', tool_calls: [7] }, 'messages[0].tool_calls[0]'],
    [{ role: 'assistant', tool_calls: [{ id: 'a' }] }, 'messages[0].tool_calls[0].function'],
    [{ role: 'assistant', tool_calls: [{ custom: 7 }] }, 'messages[0].tool_calls[0].custom'],
    [{ role: 'assistant', tool_calls: [{ id: 7 }] }, 'messages[0].tool_calls[0].id'],
    [{ role: 'assistant', function_call: 'open_gate' }, 'messages[0].function_call'],
    [
      { role: 'assistant', tool_calls: [{ function: { name: 'x', arguments: {} } }] },
      'messages[0].tool_calls[0].function.arguments',
    ],
  ];

  test.each(WRONG_MESSAGES)('message %j', (message, param) => {
    expect(refused({ messages: [message] })).toEqual(['invalid_value', param]);
  });

  test.each(['ftp://images.example/1.png', 'file:///etc/passwd', 'data:application/pdf;base64,AAAA', '', 'cat.png'])(
    'the image address %j',
    (url) => {
      const messages = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
      expect(refused({ messages })).toEqual(['invalid_value', 'messages[0].content[0].image_url.url']);
      const alone = [{ role: 'user', content: [{ type: 'image_url', image_url: url }] }];
      expect(refused({ messages: alone })).toEqual(['invalid_value', 'messages[0].content[0].image_url']);
    },
  );

  test.each([
    [{ tools: {} }, 'tools'],
    [{ tools: [7] }, 'tools[0]'],
    [{ tools: [{}] }, 'tools[0].type'],
    [{ tools: [{ type: 'function' }] }, 'tools[0].function.name'],
    [{ tools: [TOOL, { type: 'custom', custom: { name: '' } }] }, 'tools[1].custom.name'],
    [{ stream: 'true' }, 'stream'],
    [{ stream_options: { include_usage: true } }, 'stream_options'],
    [{ stream: true, stream_options: { include_usage: 1 } }, 'stream_options.include_usage'],
    [{ temperature: '0.1' }, 'temperature'],
    [{ stop: ['x', 7] }, 'stop'],
    [{ seed: 0.5 }, 'seed'],
    [{ user: 7 }, 'user'],
    [{ metadata: 'x' }, 'metadata'],
    [{ tool_choice: 7 }, 'tool_choice'],
    [{ modalities: 'text' }, 'modalities'],
    [{ n: 0 }, 'n'],
    [{ n: 129 }, 'n'],
    [{ n: '2' }, 'n'],
  ])('%j', (more, param) => {
    expect(refused(more)).toEqual(['invalid_value', param]);
  });

  test('the body, the model and the messages', () => {
    for (const body of ['[]', '"x"', 'null', '7']) {
      expect(refusalBy(() => peek(jsonText(body)))).toMatchObject({ code: 'invalid_request_body', param: null });
    }
    expect(refused({ model: undefined })).toEqual(['missing_required_parameter', 'model']);
    expect(refused({ messages: null })).toEqual(['missing_required_parameter', 'messages']);
    for (const model of ['', 7, 'x'.repeat(LIMITS.modelIdCharsMax + 1)]) {
      expect(refused({ model })).toEqual(['invalid_value', 'model']);
    }
    for (const messages of [[], 'Hello', {}]) expect(refused({ messages })).toEqual(['invalid_value', 'messages']);
  });

  test('the shape of the answer is the host’s to judge', () => {
    for (const response_format of ['json', { type: 'grammar' }, 7]) {
      expect(peekAt({ response_format }).model).toBe('bridge');
    }
  });
});

describe('labels', () => {
  test('are the fields that identify the caller’s user', () => {
    const { labels } = peekAt({ user: 'ada', session_id: 's1', metadata: { team: 'gates', size: 7 } });
    expect(labels).toEqual({ user: 'ada', session_id: 's1', 'metadata.team': 'gates' });
  });

  test('are bounded in number and length', () => {
    const metadata = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`key${at}`, 'x'.repeat(10_000)]));
    const labels = peekAt({ user: 'ada', metadata }).labels!;
    expect(Object.keys(labels)).toHaveLength(LIMITS.labelsMax);
    expect(Object.values(labels).every((label) => label.length <= LIMITS.labelCharactersMax)).toBe(true);
  });
});
