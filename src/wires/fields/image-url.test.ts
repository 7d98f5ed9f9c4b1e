import { describe, expect, test } from 'vitest';
import { refusalBy } from '../../../test/chat-wire.ts';
import { readImageUrl, writeImageUrl } from './image-url.ts';

describe('the URL of an image', () => {
  test.each([
    'https://pictures.example/a.png?x=1',
    'data:image/png;base64,iVBORw0KGgo=',
    'data:image/svg+xml;base64,PHN2Zz4=',
  ])('%s is read and written unchanged', (url) => {
    expect(writeImageUrl(readImageUrl(url, null, 'p'))).toBe(url);
  });

  test('with inline data is split into its type and its data, whatever the case of its scheme', () => {
    for (const url of ['data:image/png;base64,AA==', 'DATA:image/png;BASE64,AA==']) {
      expect(readImageUrl(url, 'low', 'p')).toEqual({
        kind: 'image',
        source: { kind: 'inline', mediaType: 'image/png', base64: 'AA==' },
        detail: 'low',
      });
    }
  });

  test('with an address is kept, and an unknown detail is left out', () => {
    expect(readImageUrl('https://a.example/b', 'finest', 'p')).toEqual({
      kind: 'image',
      source: { kind: 'url', url: 'https://a.example/b' },
      detail: null,
    });
  });

  test.each(['data:image/png,AA', 'data:;base64,AA==', 'data:image/png;utf8,<svg>'])(
    '%s is refused, and the error names its field',
    (url) => {
      expect(refusalBy(() => readImageUrl(url, null, 'messages[0].content[1].image_url.url'))).toMatchObject({
        code: 'invalid_value',
        param: 'messages[0].content[1].image_url.url',
      });
    },
  );
});
