import { describe, expect, test } from 'vitest';
import { refusalBy } from '../../../test/chat-wire.ts';
import { refuseCaseVariants } from './case-variants.ts';

const PATHS: readonly [name: string, body: object, param: string][] = [
  ['the model', { Model: 'x' }, 'Model'],
  ['a message’s content', { messages: [{ role: 'user' }, { role: 'user', Content: 'x' }] }, 'messages[1].Content'],
  ['a part’s type', { messages: [{ content: [{ TYPE: 'image_url' }] }] }, 'messages[0].content[0].TYPE'],
  [
    'an image’s address',
    { messages: [{ content: [{ image_url: { Url: 'x' } }] }] },
    'messages[0].content[0].image_url.Url',
  ],
  [
    'a call’s arguments',
    { messages: [{ tool_calls: [{ function: { Arguments: '' } }] }] },
    'messages[0].tool_calls[0].function.Arguments',
  ],
  ['a tool’s type', { tools: [{ type: 'function', Type: 'web_search' }] }, 'tools[0].Type'],
  ['a tool’s schema', { tools: [{ function: { Parameters: {} } }] }, 'tools[0].function.Parameters'],
  [
    'a block inside a result',
    { messages: [{ content: [{ content: [{ Text: 'x' }] }] }] },
    'messages[0].content[0].content[0].Text',
  ],
  ['a source', { messages: [{ content: [{ source: { Data: 'x' } }] }] }, 'messages[0].content[0].source.Data'],
  ['a file', { messages: [{ content: [{ file: { File_ID: 'x' } }] }] }, 'messages[0].content[0].file.File_ID'],
  ['a tool in a group', { tools: [{ tools: [{ Name: 'x' }] }] }, 'tools[0].tools[0].Name'],
  ['a system block', { system: [{ type: 'text', Text: 'x' }] }, 'system[0].Text'],
  ['an item’s words', { input: [{ role: 'user', conteNt: 'x' }] }, 'input[0].conteNt'],
  ['an item’s output', { input: [{ output: [{ Text: 'x' }] }] }, 'input[0].output[0].Text'],
  ['a budget', { thinking: { Budget_Tokens: 9 } }, 'thinking.Budget_Tokens'],
  ['an effort', { reasoning: { Effort: 'max' } }, 'reasoning.Effort'],
  ['what is asked of a stream', { stream_options: { Include_usage: false } }, 'stream_options.Include_usage'],
  [
    'a letter that only looks plain',
    { messages: [{ content: [{ me\u017f: 1, typ\u0045: 1 }] }] },
    'messages[0].content[0].typE',
  ],
];

describe('a second spelling is refused', () => {
  test.each(PATHS)('of %s', (_name, body, param) => {
    expect(refusalBy(() => refuseCaseVariants(body))).toMatchObject({ code: 'duplicate_key', param });
  });
});

describe('what is the caller’s own to name passes', () => {
  test.each<[string, object]>([
    ['a schema', { tools: [{ function: { name: 'f', parameters: { properties: { Type: {}, Content: {} } } } }] }],
    ['a schema of the other wire', { tools: [{ name: 'f', input_schema: { properties: { Name: {} } } }] }],
    ['the input of a call', { messages: [{ content: [{ type: 'tool_use', input: { Text: 'x', Role: 1 } }] }] }],
    ['a schema of answers', { response_format: { json_schema: { name: 'x', schema: { properties: { Id: {} } } } } }],
    ['labels', { metadata: { Model: 'x', Content: 'y' } }],
    ['the state of a decision', { state: { Model: 1 }, questions: { Model: { type: 'noul' } } }],
    ['fields nobody knows', { myOwnField: { Content: 1 }, X: 1 }],
    ['names that are only like it', { messages: [{ role: 'user', content: 'x', Contents: 1, myRole: 2 }] }],
    ['no object at all', [1] as unknown as object],
  ])('%s', (_name, body) => {
    expect(() => refuseCaseVariants(body)).not.toThrow();
  });
});
