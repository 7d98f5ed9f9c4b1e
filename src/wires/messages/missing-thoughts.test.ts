import { expect, test } from 'vitest';
import type { Block, CanonicalMessage, Role } from '../../canonical/request.ts';
import { lacksThoughts } from './missing-thoughts.ts';
import { signedOpaque } from './opaque-reasoning.ts';

const say = (role: Role, ...blocks: Block[]): CanonicalMessage => ({ role, blocks });
const TEXT: Block = { kind: 'text', text: 'Go on.' };
const CALL: Block = { kind: 'tool-call', id: 'c1', name: 'open', argumentsJson: '{}' };
const RESULT: Block = { kind: 'tool-result', callId: 'c1', content: [], isError: false };
const OWN: Block = { kind: 'reasoning', text: 'Hm.', opaque: signedOpaque('EqQB') };
const FOREIGN: Block = { kind: 'reasoning', text: 'Hm.', opaque: null };

const QUESTION = say('user', TEXT);

test.each<[string, CanonicalMessage[]]>([
  ['its reasoning is not there', [say('assistant', CALL), say('user', RESULT)]],
  ['its reasoning is of another vendor', [say('assistant', FOREIGN, CALL), say('user', RESULT)]],
  ['the user has added something', [say('assistant', CALL), say('user', RESULT), QUESTION]],
  [
    'only an earlier question has reasoning',
    [say('assistant', OWN, CALL), say('user', RESULT), say('assistant', TEXT), QUESTION, say('assistant', CALL)],
  ],
])('a turn whose tools are answered lacks its reasoning if %s', (_, messages) => {
  expect(lacksThoughts([QUESTION, ...messages])).toBe(true);
});

test.each<[string, CanonicalMessage[]]>([
  ['no tool was called', [say('assistant', TEXT), QUESTION]],
  ['there is only a question', []],
  ['it came back', [say('assistant', OWN, CALL), say('user', RESULT)]],
  [
    'it came back with an earlier call for the same question',
    [say('assistant', OWN, CALL), say('user', RESULT), say('assistant', CALL), say('user', RESULT)],
  ],
])('nothing is missing if %s', (_, messages) => {
  expect(lacksThoughts([QUESTION, ...messages])).toBe(false);
});
