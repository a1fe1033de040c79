import { expect, test } from 'vitest';
import { firstFlag, times, type ScriptedCall } from '../../../test/support/scripted-run.ts';
import { stagnationDetector } from './stagnation.ts';

const ask = (at: number): ScriptedCall => ({ tool: 'search', args: { q: `words ${at}` }, result: 'No results found' });

test('the sixth question with the same answer is flagged, the fifth is not', () => {
  expect(firstFlag(stagnationDetector(), times(6, ask))).toBe(5);
  expect(firstFlag(stagnationDetector(), times(5, ask))).toBeNull();
});

test('a very short answer is flagged at the tenth, nothing at all at the sixth, and where only a number differs at the twentieth', () => {
  const words = 'lag delay wait stall queue slow stuck late behind drift pause hang'.split(' ');
  const other = (at: number): ScriptedCall => ({ tool: 'search', args: { q: words[at] ?? '' }, result: '42' });
  expect(firstFlag(stagnationDetector(), times(12, other))).toBe(9);
  const nothing = times(12, (at) => ({ ...other(at), result: '[]' }));
  expect(firstFlag(stagnationDetector(), nothing)).toBe(5);
  expect(
    firstFlag(
      stagnationDetector(),
      times(22, (at) => ({ tool: 'search', args: { id: at }, result: '[]' })),
    ),
  ).toBe(19);
});

test('who looks for one word after the other in one file and is shown nothing is flagged at the sixth, in file after file not', () => {
  const words = 'gold coins purse money wallet treasury cash'.split(' ');
  const look = (at: number, file: string): ScriptedCall => ({
    tool: 'bash',
    args: { command: `strings ${file} | grep -i '${words[at] ?? ''}'` },
    result: { stdout: '', stderr: '', exit_code: 1 },
  });
  expect(
    firstFlag(
      stagnationDetector(),
      times(7, (at) => look(at, 'slot.sav')),
    ),
  ).toBe(5);
  const files = times(7, (at): ScriptedCall => ({
    tool: 'bash',
    args: { command: `grep -i hoard saves/slot-${words[at] ?? ''}.sav` },
    result: '',
  }));
  expect(firstFlag(stagnationDetector(), files)).toBeNull();
});

test('one other question between does not end the row, two do', () => {
  const other: ScriptedCall = { tool: 'profile', args: { id: 'U1' }, result: 'Sam Ortiz, mobile lead' };
  const row = times(6, ask);
  expect(firstFlag(stagnationDetector(), [...row.slice(0, 3), other, ...row.slice(3)])).toBe(6);
  expect(
    firstFlag(stagnationDetector(), [...row.slice(0, 3), other, { ...other, args: { id: 'U2' } }, ...row.slice(3)]),
  ).toBeNull();
});

test('legitimate twins are left alone', () => {
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

test('going through a list and finding nothing is work, other words for one question are not', () => {
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

test('orders that come to nothing are flagged, whatever kind they are', () => {
  const orders = ['wash mug', 'use sink', 'open tap', 'put mug under tap', 'press tap', 'look'];
  const act = (at: number): ScriptedCall => ({
    tool: 'act',
    args: { command: orders[at] ?? '' },
    result: 'Nothing happens.',
  });
  expect(firstFlag(stagnationDetector(), times(6, act))).toBe(5);
});

test('a screen that shows the same after each of six actions is flagged', () => {
  const click = (at: number): ScriptedCall => ({ tool: 'click', args: { x: at, y: 5 }, result: 'ok' });
  const shot = (page: string): ScriptedCall => ({ tool: 'screenshot', args: {}, result: `[page: ${page}]` });
  const row = (page: (at: number) => string): readonly ScriptedCall[] =>
    times(14, (at) => (at % 2 === 0 ? click(at) : shot(page(at))));
  expect(
    firstFlag(
      stagnationDetector(),
      row(() => 'login'),
    ),
  ).toBe(11);
  expect(firstFlag(stagnationDetector(), row(String))).toBeNull();
});

test('writes that change nothing count together when they are on one thing', () => {
  const edit = (path: string, at: number): ScriptedCall => ({
    tool: 'write',
    args: { path, content: `text ${at}` },
    result: 'No changes were made.',
  });
  expect(
    firstFlag(
      stagnationDetector(),
      times(8, (at) => edit('a', at)),
    ),
  ).toBe(5);
  expect(
    firstFlag(
      stagnationDetector(),
      times(8, (at) => edit(`a${at}`, at)),
    ),
  ).toBeNull();
});

test('files that hold the same are a finding, pages that show the same are not', () => {
  const head = (at: number): ScriptedCall => ({
    tool: 'Bash',
    args: { command: `head -1 data/part-${at}.csv` },
    result: 'id,name,value',
  });
  expect(firstFlag(stagnationDetector(), times(19, head))).toBeNull();
  const page = (at: number): ScriptedCall => ({
    tool: 'open',
    args: { url: `https://x.test/item/${at}` },
    result: 'Please sign in to go on.',
  });
  expect(firstFlag(stagnationDetector(), times(6, page))).toBe(5);
});

test('one question with ever more to it is flagged at the sixth, however short the answer is', () => {
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

test('one screen stays the same, whatever tool touches it', () => {
  const tools = ['click', 'click_xy', 'press', 'scroll', 'click', 'hover'];
  const touch = (at: number): ScriptedCall => ({
    tool: tools[at] ?? '',
    args: { x: at, y: 2 * at },
    result: `I clicked at (${at}, ${2 * at}).\n\nURL: https://x.test/step-3\n[17] button 'Continue' (disabled)`,
  });
  expect(firstFlag(stagnationDetector(), times(6, touch))).toBe(5);
});

test('a line of code that prints what was printed before is one more way to ask', () => {
  const commands = [
    'grep F a.log | tail -1',
    'awk /F/ a.log',
    'sed -n /F/p a.log',
    "perl -ne 'print' a.log",
    'tac a.log',
    'cat a.log',
  ];
  const print = (at: number): ScriptedCall => ({
    tool: 'Bash',
    args: { command: commands[at] ?? '' },
    result: '22:31:17 WARN job=load_dim (recovered)',
  });
  expect(firstFlag(stagnationDetector(), times(6, print))).toBe(5);
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

test('pages that only tell how many they hold are drawn in peace', () => {
  const page = (at: number): ScriptedCall => ({ tool: 'list_art', args: { page: at, size: 20 }, result: '20 records' });
  expect(firstFlag(stagnationDetector(), times(12, page))).toBeNull();
});

test('asking for one name after the other is going through a list, whatever the short answer says', () => {
  const names = [
    'larkspur.com',
    'larkspurs.com',
    'golarkspur.com',
    'larkspur-app.com',
    'uselarkspur.com',
    'larkspurhq.com',
  ];
  const lookUp =
    (key: string) =>
    (at: number): ScriptedCall => ({
      tool: 'whois',
      args: { [key]: names[at] ?? '' },
      result: 'Status: registered',
    });
  expect(firstFlag(stagnationDetector(), times(6, lookUp('domain')))).toBeNull();
  expect(firstFlag(stagnationDetector(), times(6, lookUp('query')))).toBe(5);
});

test('one text asked for in tone after tone that stays the same is flagged', () => {
  const tones = ['warm', 'warmer', 'friendly', 'casual', 'human', 'soft'];
  const rewrite = (at: number): ScriptedCall => ({
    tool: 'rewrite',
    args: { text: 'We are sorry for the delay.', tone: tones[at] ?? '' },
    result: 'We apologise for the delay.',
  });
  expect(firstFlag(stagnationDetector(), times(6, rewrite))).toBe(5);
});

test('pages drawn with a token are drawn in peace where they only tell how many they hold', () => {
  const page = (at: number): ScriptedCall => ({
    tool: 'debates',
    args: { speaker: '1187', size: 50, ...(at === 0 ? {} : { pageToken: `d${at}8fe` }) },
    result: '50 speeches',
  });
  expect(firstFlag(stagnationDetector(), times(12, page))).toBeNull();
});

test('one person under many spellings is one question', () => {
  const spellings = [
    'Hjalmar Lindqvist 1871',
    'Hjalmar Lindkvist 1871',
    'H. Lindqvist born 1871',
    'Lindqvist Hjalmar Umea',
    'Hjalmar Lindquist emigrant',
    'Lindqvist 1870-1872',
  ];
  const seek = (at: number): ScriptedCall => ({
    tool: 'register_search',
    args: { q: spellings[at] ?? '', collection: 'births-1880-1920' },
    result: '0 records.',
  });
  expect(firstFlag(stagnationDetector(), times(6, seek))).toBe(5);
});
