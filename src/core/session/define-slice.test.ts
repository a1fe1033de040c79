import { expect, test } from 'vitest';
import { defineEvent } from './define-event.ts';
import { defineSlice, type Slice, appendAll } from './define-slice.ts';

const Noted = defineEvent<Note>('noted');
const Counted = defineEvent<number>('counted');

interface Note {
  readonly text: string;
}
const Note: Slice<Note> = defineSlice<Note>('note').on(Noted, appendAll);

test('a type and its slice share one name', () => {
  const note: Note = { text: 'x' };
  expect(note.text).toBe('x');
  expect(Note.sliceName).toBe('note');
});

test('on() returns a new slice and does not change the old one', () => {
  const bare = defineSlice<Note>('n', { retain: 5 });
  const folded = bare.on(Noted, appendAll);
  expect(folded).not.toBe(bare);
  expect(bare.reducers).toHaveLength(0);
  expect(folded.reducers).toHaveLength(1);
  expect([folded.sliceName, folded.retain]).toEqual(['n', 5]);
  expect(Object.isFrozen(folded)).toBe(true);
});

test('a slice retains 1,000 items by default', () => {
  expect(defineSlice<Note>('n').retain).toBe(1000);
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('retain %d is refused', (retain) => {
  expect(() => defineSlice<Note>('n', { retain })).toThrowError(
    expect.objectContaining({ code: 'invalid-definition', details: { slice: 'n', retain } }),
  );
});

test('a slice name outside the pattern is refused', () => {
  expect(() => defineSlice<Note>('No Te')).toThrowError(expect.objectContaining({ code: 'invalid-definition' }));
});

test('the type checker refuses a reducer for other data and items that are not JSON', () => {
  // @ts-expect-error the event's data is a number, the item a Note
  expect(Note.on(Counted, appendAll).reducers).toHaveLength(2);
  // @ts-expect-error a Date is not JSON
  expect(defineSlice<{ readonly at: Date }>('n').sliceName).toBe('n');
});
