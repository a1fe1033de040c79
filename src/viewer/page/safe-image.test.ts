import { expect, test } from 'vitest';

import { safeImage } from './safe-image.ts';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test('pictures of the four known formats are shown', () => {
  expect(safeImage('image/png', PNG)).toBe(`data:image/png;base64,${PNG}`);
});

test('other formats, mislabelled data and invalid base64 are not shown', () => {
  expect(safeImage('image/svg+xml', PNG)).toBeUndefined();
  expect(safeImage('IMAGE/PNG', PNG)).toBeUndefined();
  expect(safeImage('image/png;x', PNG)).toBeUndefined();
  expect(safeImage('image/png', Buffer.from('<svg onload="x"/>').toString('base64'))).toBeUndefined();
  expect(safeImage('image/png', `${PNG}"><script>`)).toBeUndefined();
  expect(safeImage('image/png', undefined)).toBeUndefined();
  expect(safeImage(undefined, PNG)).toBeUndefined();
});
