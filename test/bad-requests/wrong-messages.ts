import type { Random } from '../random.ts';
import { type BadClass, oneField } from './bad-class.ts';
import type { Body } from './good-body.ts';

/** Spoils one message of the list, and returns the path of the member at fault, relative to the message. */
type SpoilMessage = (message: Body, random: Random) => string;

function wrongMessage(name: string, spoil: SpoilMessage, code = 'invalid_value'): BadClass {
  return oneField(name, code, (body, random) => {
    const messages = body.messages as Body[];
    const at = random.below(messages.length);
    return `messages[${at}]${spoil(messages[at]!, random)}`;
  });
}

function wrongPart(name: string, member: string, parts: readonly unknown[], code = 'invalid_value'): BadClass {
  return wrongMessage(
    name,
    (message, random) => {
      const before = random.below(3);
      const good = Array.from({ length: before }, () => ({ type: 'text', text: 'fine' }));
      message.content = [...good, random.pick(parts)];
      return `.content[${before}]${member}`;
    },
    code,
  );
}

const NO_TEXTS = [1, 0.5, true, false, [], ['x'], {}, { text: 'x' }];
const TEXT_MEMBERS = ['name', 'refusal', 'reasoning', 'reasoning_content', 'tool_call_id'];
const NO_CALLS = ['pay', 7, true, { 0: {} }];

const CALL_FAULTS: readonly (readonly [string, unknown])[] = [
  ['', 'pay'],
  ['', null],
  ['.id', { id: 7, type: 'function', function: { name: 'pay', arguments: '{}' } }],
  ['.function', { id: 'c1', type: 'function' }],
  ['.function', { id: 'c1', type: 'function', function: 'pay' }],
  ['.function.name', { id: 'c1', type: 'function', function: { name: ['pay'], arguments: '{}' } }],
  ['.function.arguments', { id: 'c1', type: 'function', function: { name: 'pay', arguments: {} } }],
];

export const WRONG_MESSAGES: readonly BadClass[] = [
  oneField('no message at all', 'invalid_value', (body) => {
    body.messages = [];
    return 'messages';
  }),
  oneField('a message that is not an object', 'invalid_value', (body, random) => {
    const messages = body.messages as unknown[];
    const at = random.below(messages.length);
    body.messages = messages.with(at, random.pick<unknown>(['hello', 7, true, null, [], ['user', 'hello']]));
    return `messages[${at}]`;
  }),
  wrongMessage('an unknown role', (message, random) => {
    message.role = random.pick(['human', 'model', 'User', 'user ', '', 'root', '__proto__']);
    return '.role';
  }),
  wrongMessage('a role of another type', (message, random) => {
    message.role = random.pick<unknown>([1, true, null, ['user'], { role: 'user' }]);
    return '.role';
  }),
  wrongMessage('no role', (message) => {
    delete message.role;
    return '.role';
  }),
  wrongMessage('content of another type', (message, random) => {
    message.content = random.pick<unknown>([1, 0.5, true, false, {}, { type: 'text', text: 'x' }]);
    return '.content';
  }),
  ...TEXT_MEMBERS.map((member) =>
    wrongMessage(`a message’s ${member} of another type`, (message, random) => {
      message[member] = random.pick(NO_TEXTS);
      return `.${member}`;
    }),
  ),
  wrongMessage('tool calls that are no list', (message, random) => {
    message.tool_calls = random.pick(NO_CALLS);
    return '.tool_calls';
  }),
  wrongMessage('a function call that is not an object', (message, random) => {
    message.function_call = random.pick<unknown>(['pay', 7, true, [], ['pay']]);
    return '.function_call';
  }),
  wrongMessage('an invalid tool call', (message, random) => {
    const [member, call] = random.pick(CALL_FAULTS);
    message.tool_calls = [call];
    return `.tool_calls[0]${member}`;
  }),
  wrongMessage('reasoning details that are no list of objects', (message, random) => {
    message.reasoning_details = random.pick<unknown>(['x', 1, true, {}, ['x'], [null], [[]]]);
    return '.reasoning_details';
  }),
  wrongMessage(
    'audio in a message',
    (message) => {
      message.audio = { id: 'audio_1' };
      return '.audio';
    },
    'unsupported_feature',
  ),
  wrongPart('a part that is not an object', '', ['hello', 7, null, ['text', 'hello']]),
  wrongPart('a part without a type', '.type', [{}, { text: 'hello' }]),
  wrongPart(
    'a part of an unknown or unpriced type',
    '.type',
    ['input_audio', 'files', 'input_text', 'image', 'video_url', 'document', 'Text', '', '__proto__'].map((type) => ({
      type,
      // A second spelling of a known name would be refused for that reason.
      [type === '__proto__' || type === 'Text' ? 'data' : type]: { id: 'file_1', data: 'AAAA' },
    })),
    'unsupported_feature',
  ),
  wrongPart('a text part without text', '.text', [
    { type: 'text' },
    ...NO_TEXTS.map((text) => ({ type: 'text', text })),
  ]),
  wrongPart('a refusal part without words', '.refusal', [{ type: 'refusal' }, { type: 'refusal', refusal: 1 }]),
  wrongPart('an image part without an address', '.image_url.url', [
    { type: 'image_url' },
    { type: 'image_url', image_url: 7 },
    { type: 'image_url', image_url: {} },
    { type: 'image_url', image_url: { url: '' } },
    { type: 'image_url', image_url: { url: 7 } },
    { type: 'image_url', image_url: { url: ['data:image/png;base64,AAAA'] } },
  ]),
];
