import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../../test/support/scripted-run.ts';
import { stagnationDetector } from './stagnation.ts';

const ask = (at: number): ScriptedCall => ({ tool: 'search', args: { q: `words ${at}` }, result: 'No results found' });

test('a very short answer is flagged at the twentieth, an empty one at the sixth, and one to questions that differ only in a number at the twentieth', () => {
  const words =
    'lag delay wait stall queue slow stuck late behind drift pause hang jam halt idle park rest stop dead cold'.split(
      ' ',
    );
  const other = (at: number): ScriptedCall => ({ tool: 'search', args: { q: words[at] ?? '' }, result: '42' });
  expect(firstFlag(stagnationDetector(), times(20, other))).toBe(19);
  const nothing = times(12, (at) => ({ ...other(at), result: '[]' }));
  expect(firstFlag(stagnationDetector(), nothing)).toBe(5);
  expect(
    firstFlag(
      stagnationDetector(),
      times(22, (at) => ({ tool: 'search', args: { id: at }, result: '[]' })),
    ),
  ).toBe(19);
});

test('legitimate runs that look similar are not flagged', () => {
  expect(
    firstFlag(
      stagnationDetector(),
      times(12, (at) => ({ ...ask(at), result: `${at} results` })),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      stagnationDetector(),
      times(12, (at) => ({ tool: 'delete', args: { at }, result: 'true' })),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      stagnationDetector(),
      times(12, (at) => ({ ...ask(at), turn: 0 })),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      stagnationDetector(),
      times(12, (at) => (at % 5 === 4 ? { ...ask(at), result: 'one' } : ask(at))),
    ),
  ).toBeNull();
});

test('questions about different items of a list without a result are work, and rewordings of one question are not', () => {
  const column = (at: number): ScriptedCall => ({
    tool: 'duckdb',
    args: { q: `SELECT count(*) AS nulls FROM trips WHERE c${at} IS NULL` },
    result: 'nulls\n-----\n0',
  });
  expect(firstFlag(stagnationDetector(), times(19, column))).toBeNull();
  const words = [
    'kafka lag alert',
    'alert kafka lag',
    'kafka lag',
    'lag of kafka',
    'kafka alerts',
    'consumer lag kafka',
  ];
  const search = (at: number): ScriptedCall => ({
    tool: 'search',
    args: { q: words[at] ?? '' },
    result: 'No pages found.',
  });
  expect(firstFlag(stagnationDetector(), times(6, search))).toBe(5);
});

test('questions with other words that each find nothing are no list', () => {
  const topics = [
    'insolvency of a tenant',
    'roof repair',
    'meter readings',
    'keys for the shed',
    'the night of the flood',
    'heating',
  ];
  const mail = (at: number): ScriptedCall => ({
    tool: 'mail',
    args: { folder: 'in', q: topics[at] ?? '' },
    result: 'No messages match.',
  });
  expect(firstFlag(stagnationDetector(), times(6, mail))).toBe(5);
});

test('one question that grows is flagged at the sixth, however short the answer is', () => {
  const more = ['cabin', 'passengers', 'stops', 'sort', 'limit', 'fare'];
  const search = (at: number): ScriptedCall => ({
    tool: 'search_flight',
    args: { from: 'JFK', to: 'SEA', ...(at === 0 ? {} : { [more[at - 1] ?? '']: at }) },
    result: '[]',
  });
  expect(firstFlag(stagnationDetector(), times(6, search))).toBe(5);
});

test('a short fact about one address or day after the other is work', () => {
  const page = (at: number): ScriptedCall => ({
    tool: 'mem_read',
    args: { addr: `0x0007${at}000`, len: 16 },
    result: 'FF FF FF FF FF FF FF FF',
  });
  expect(firstFlag(stagnationDetector(), times(9, page))).toBeNull();
});

test('names with common parts are a list too', () => {
  const names = [
    'Alfa sp. z o.o.',
    'Bis S.A.',
    'Drewpol sp.j.',
    'Eko-Rol sp. z o.o.',
    'Nova S.A.',
    'Metal sp. z o.o.',
    'Orion',
  ];
  const check = (at: number): ScriptedCall => ({
    tool: 'check_sanctions',
    args: { name: names[at] ?? '', lists: ['EU', 'UN', 'US'] },
    result: 'No hits.',
  });
  expect(firstFlag(stagnationDetector(), times(7, check))).toBeNull();
});

test('pages that only state their number of items are not flagged', () => {
  const page = (at: number): ScriptedCall => ({ tool: 'list_art', args: { page: at, size: 20 }, result: '20 records' });
  expect(firstFlag(stagnationDetector(), times(12, page))).toBeNull();
});

test('one text that stays the same although another tone is requested each time is flagged', () => {
  const tones = ['warm', 'warmer', 'friendly', 'casual', 'human', 'soft'];
  const rewrite = (at: number): ScriptedCall => ({
    tool: 'rewrite',
    args: { text: 'We are sorry for the delay.', tone: tones[at] ?? '' },
    result: 'We apologise for the delay.',
  });
  expect(firstFlag(stagnationDetector(), times(6, rewrite))).toBe(5);
});

const lines = (from: number): ScriptedCall => ({
  tool: 'read_lines',
  args: { path: 'log.txt', from, count: 100 },
  result: from > 300 ? 'The file ends before this line' : `line ${from} `.repeat(40),
});

test('reads past the end of something are flagged at the fourth, and the calls of a list are not', () => {
  expect(
    firstFlag(
      stagnationDetector(),
      times(9, (at) => lines(100 * at)),
    ),
  ).toBe(7);
  expect(
    firstFlag(
      stagnationDetector(),
      times(9, (at) => ({ ...lines(100 * at), result: '20 records' })),
    ),
  ).toBeNull();
  expect(
    firstFlag(
      stagnationDetector(),
      times(9, (at) => lines(at % 2 === 0 ? 1_000 : 400)),
    ),
  ).toBeNull();
});

test.each([
  ['two numbers', (from: number) => ({ path: 'log.txt', first: from, last: from + 99 })],
  ['a list of numbers', (from: number) => ({ path: 'log.txt', range: [from, from + 99] })],
  ['a number as text', (from: number) => ({ path: 'log.txt', page: `${from / 100}` })],
  ['a nested number', (from: number) => ({ where: { state: 'open' }, paging: { offset: from } })],
] as const)('reads past the end are found by %s', (_name, argsOf) => {
  const calls = times(9, (at) => ({ ...lines(100 * at), args: argsOf(100 * at) }));
  expect(firstFlag(stagnationDetector(), calls)).toBe(7);
});

test('a search that is only widened is flagged at the fourth', () => {
  const near = (radius: number): ScriptedCall => ({
    tool: 'nearby',
    args: { lat: 47.1, radius },
    result: '1. Minit\n2. Kern',
  });
  expect(firstFlag(stagnationDetector(), [500, 800, 1_000, 1_500].map(near))).toBe(3);
});
