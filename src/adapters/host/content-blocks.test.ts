import { expect, test } from 'vitest';
import { contentBlocks, decodedArgs, plainContent, resultOf, usageOf } from './content-blocks.ts';

test('texts, refusals and images have names; anything else is kept whole', () => {
  expect(
    contentBlocks([
      'plain',
      { type: 'input_text', text: 'in' },
      { type: 'refusal', refusal: 'no' },
      { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      { type: 'image', image: 'https://x.test/b.png' },
      { type: 'input_audio', input_audio: { data: 'AA' } },
      7,
    ]),
  ).toEqual([
    { type: 'text', text: 'plain' },
    { type: 'text', text: 'in' },
    { type: 'text', text: 'no' },
    { type: 'image', mediaType: 'image/*', url: 'https://x.test/a.png' },
    { type: 'image', mediaType: 'image/png', dataBase64: 'AAAA' },
    { type: 'image', mediaType: 'image/*', url: 'https://x.test/b.png' },
    { type: 'other', value: { type: 'input_audio', input_audio: { data: 'AA' } } },
    { type: 'other', value: 7 },
  ]);
});

test('a single text becomes a plain string, and no blocks an empty string', () => {
  expect(plainContent(contentBlocks('hello'))).toBe('hello');
  expect(plainContent(contentBlocks(null))).toBe('');
  expect(plainContent(contentBlocks(['a', 'b']))).toHaveLength(2);
});

test('a result with only text becomes one string; any other stays unchanged', () => {
  expect(
    resultOf([
      { type: 'input_text', text: 'a' },
      { type: 'text', text: 'b' },
    ]),
  ).toBe('a\nb');
  expect(resultOf(undefined)).toBe('');
  const image = [{ type: 'input_image', image_url: 'https://x.test' }];
  expect(resultOf(image)).toBe(image);
});

test('arguments that are not JSON stay text, and missing ones are an empty object', () => {
  expect([decodedArgs('{"a":1}'), decodedArgs('{"a":'), decodedArgs('')]).toEqual([{ a: 1 }, '{"a":', {}]);
});

test('only counts that are numbers count', () => {
  expect(usageOf({ inputTokens: 3, outputTokens: 'many', cacheReadTokens: Number.NaN })).toEqual({ inputTokens: 3 });
  expect(usageOf({ inputTokens: undefined })).toBeUndefined();
});
