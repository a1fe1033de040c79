import { expect, test } from 'vitest';

import { toStoreError } from './store-error.ts';

test('the error of a damaged database names the command that saves its runs', () => {
  const damage = Object.assign(new Error('database disk image is malformed'), { errcode: 11 });
  expect(toStoreError(damage, 'open runs.db')).toMatchObject({
    code: 'store-damaged',
    message: 'cannot open runs.db: database disk image is malformed; coxswain recover saves what can be read',
  });
  const other = Object.assign(new Error('file is not a database'), { errcode: 26 });
  expect(toStoreError(other, 'open runs.db').message).toBe('cannot open runs.db: file is not a database');
});
