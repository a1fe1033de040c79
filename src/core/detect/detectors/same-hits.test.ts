import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { sameHitsDetector } from './same-hits.ts';

const WORDS = 'lag delay wait stall queue slow'.split(' ');

function search(at: number, hits = [1, 2, 3]): ScriptedCall {
  const found = hits.map((hit) => `${hit}. Page ${hit} https://example.org/page/${hit}`).join('\n');
  return {
    tool: 'web_search',
    args: { query: `cause of ${WORDS[at]}` },
    result: `Results for ${WORDS[at]}:\n${found}`,
  };
}

test('a search with the same hits is flagged at the fourth turn', () => {
  expect(
    firstFlag(
      sameHitsDetector(),
      times(5, (at) => search(at)),
    ),
  ).toBe(3);
});

test('ids in JSON are hits as well', () => {
  const found = (at: number): ScriptedCall => ({
    ...search(at),
    result: JSON.stringify({
      asked: WORDS[at],
      rows: [
        { id: 'a1', score: at },
        { id: 'b2', score: at },
      ],
    }),
  });
  expect(firstFlag(sameHitsDetector(), times(5, found))).toBe(3);
});

test('other hits, a page in between, two queries, and the calls of one turn are not flagged', () => {
  expect(
    firstFlag(
      sameHitsDetector(),
      times(6, (at) => search(at, [at, at + 1, at + 2])),
    ),
  ).toBeNull();
  const read = (at: number): ScriptedCall => ({ tool: 'fetch', args: { url: `${at}` }, result: `text ${WORDS[at]}` });
  expect(
    firstFlag(
      sameHitsDetector(),
      times(6, (at) => (at % 2 === 0 ? search(at) : read(at))),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      sameHitsDetector(),
      times(6, (at) => search(at % 2)),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      sameHitsDetector(),
      times(6, (at) => ({ ...search(at), turn: 1 })),
    ),
  ).toBeNull();
});
