import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuMs } from '../../test/support/cost-growth.ts';
import { lightMask, strongMask } from './mask.ts';
import { volatilePattern } from './volatile-parts.ts';

test.each([
  ['2026-03-01T10:10:00.123Z started', '~ started'],
  ['on 2026/03/01', 'on ~'],
  ['log/2026-03-01T10_10_00_123Z-debug.log', 'log/~-debug.log'],
  ['backup 20260301T101000Z', 'backup ~'],
  ['x-runtime: 0.003', 'x-runtime: ~'],
  ['worker-9f3a1c started', 'worker-~ started'],
  ['[12:01:11.250] tick', '[~] tick'],
  ['id 3f2b8c1e-0a4d-4c7b-9e21-aabbccddeeff', 'id ~'],
  ['at 0x7f3a2c001040', 'at ~'],
  ['commit 9fceb02d0ae598e95dc970b74767f19372d61af8', 'commit ~'],
  ['at 1750000000', 'at ~'],
  ['at 1750000000123', 'at ~'],
  ['done in 0.12s', 'done in ~'],
  ['took 12 ms', 'took ~'],
  ['pid 4711 exited', '~ exited'],
  ['{"messageId":"m-7000"}', '{"~"}'],
  ['reqId=18697;', '~;'],
  ['"ts": 12,', '"~,'],
  ['wrote /tmp/abc123/out.txt', 'wrote ~'],
  ['img_deadbeef-cafe-face-babe-abcdefabcdef 7', 'img_~ 7'],
  ['img_6948e56e-d57e-4780-aec2-9506bfc35506.png', 'img_~.png'],
  ['/5feceb66-ffc8-6f38?', '/~?'],
  ['task_69469eb2ec: refused', 'task_~: refused'],
  ['(req-01HX3Z8K2M9P)', '(req-~)'],
  ['commit 50ed024e took', 'commit ~ took'],
  ['"took_ms": 12,', '"took_ms": ~,'],
  ['"savedAt":1034,', '"savedAt":~,'],
  ['elapsed_seconds=93', 'elapsed_seconds=~'],
  ['x_request_id=9f', 'x_~'],
  ['Ray ID: 8c1f', '~'],
  ['"trace": "4bf92f"', '"~"'],
  ['"etag": "\\"0f13\\""', '"~\\""'],
  ['seed: 567939, max_cases: 16', '~, max_cases: 16'],
  ['attempt 3 of 5', '~ of 5'],
  ['connect localhost:49152', 'connect localhost:~'],
  ['GET http://localhost:49152/health', 'GET http://localhost:~/health'],
  ['web   0/1   ErrImagePull   0   5m12s', 'web   0/1   ErrImagePull   0   ~'],
  ['web   0/1   ErrImagePull   0   47m', 'web   0/1   ErrImagePull   0   ~'],
  ['Up 3 hours ago', 'Up ~ ago'],
  ['1.820u 0:01.94', '~ ~'],
  ['button "Weiter" [ref=f3a9-1]', 'button "Weiter" [~]'],
  ['{"etag": "W/\\"1265\\""}', '{"~\\""}'],
  ['boot\n[    0.312345] cpu0 up', 'boot\n[    ~] cpu0 up'],
  ['I (312) cpu_start', 'I (~) cpu_start'],
  ['a\nI0414 10:20:58.945773   9581 request.go:697] x', 'a\nI0414 ~   ~ request.go:697] x'],
  ['status: NXDOMAIN, id: 43399', 'status: NXDOMAIN, id: ~'],
  ['it needed 24 msec', 'it needed ~'],
  ['stamp: {nanosec: 885025960}', 'stamp: {~}'],
  ['{"served_by":"edge-2","volume":0}', '{"~","volume":0}'],
  ['relayd[48215]: config ok', 'relayd[~]: config ok'],
  ['Packet: {"packetId":312}', 'Packet: {"~}'],
])('what is volatile is masked: %s', (text, masked) => {
  expect(lightMask(text)).toBe(masked);
});

test.each([
  '12 of 40 tests passed',
  'find (312) cases',
  'items[12]: too long',
  '[image: png sha256:3f5e06049ec1]', // tells one content from another
  '[4.5] average, ratio 3:4',
  'page 3',
  'v1.2.3',
  'line 12: const value = 5',
  'src/store/file-7.ts',
  'abc123def', // no whole bytes, so no id
  'part-00017 of v1beta1', // digits and letters alternate but once
  '"total": 41234',
  'lat: 47.3',
  '5 days back, 12m long',
  'date: cannot set date 5 days back',
  'x2026-03-01x is a name',
])('what may be progress or meaning stays: %s', (text) => {
  expect(lightMask(text)).toBe(text);
});

test('a text without a digit stays as it is', () => {
  expect(lightMask('date: cannot set date')).toBe('date: cannot set date');
});

test('both ends of a long text are masked and its middle is compared as it is', () => {
  const filler = 'word '.repeat(1_000);
  const long = `10:00:00 ${filler}11:00:00 ${filler}12:00:00`;
  expect(lightMask(long)).toBe(`~ ${filler}11:00:00 ${filler}~`);
});

test('the scanner finds what a plain replacement finds', () => {
  const everywhere = new RegExp(volatilePattern().source, 'gi');
  const pieces = [
    ['2026-03-01', 'T10:10', ':00', ' ', '12', '1750000000', 'ms', 's', 'µs', '0x7f3a2c001040', 'abcdef0123456789'],
    ['pid ', 'session_id', '=', '"', 'ts', ':', 'time', 'took', '/tmp/', '/private/tmp/x', '/', '.', '_', '-', 'x'],
    ['3f2b8c1e-0a4d-4c7b-9e21-aabbccddeeff', 'Request #', 'msgId', 'é', '\n', 'duration', 'run', '5', 'A'],
    [
      'took_ms',
      'savedAt',
      'elapsed',
      'req-',
      'img_',
      '01HX3Z8K2M',
      'localhost:',
      '49152',
      '  ',
      '5m12s',
      '47m',
      ' ago',
    ],
    [' hours', 'attempt ', 'seed', 'ray', 'etag', '.12', '50ed024e', 'h', 'd'],
    ['deadbeef', 'deadbeef-dead-beef-dead-beefdeadbeef', 'facade', '-12ab', 'uid=', 'ref', '/var', '/dev/shm/', 'B1'],
    [
      '_s',
      '_secs',
      'latency',
      'uptime',
      'walltime',
      'Time',
      'At',
      '_at',
      ': ',
      '= ',
      ' : ',
      '12.5',
      '_millis',
      '35000',
    ],
  ];
  const piece = fc.constantFrom(...pieces.flat());
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (parts) => {
      const text = parts.join('');
      expect(lightMask(`${text} 7`)).toBe(`${text} 7`.replaceAll(everywhere, '~'));
    }),
    { numRuns: 2_000 },
  );
});

test('errors of one cause are equal under the strong mask', () => {
  expect(strongMask("No module named 'numpy'")).toBe(strongMask("No module named 'pandas'"));
  expect(strongMask('/src/a.ts(12,3): error TS2304')).toBe(strongMask('/lib/b.ts(7,44): error TS2304'));
  expect(strongMask('permission denied')).not.toBe(strongMask('not found'));
});

test.each(['1', 'a1', '/tmp/', '"', '['])(
  'the longest text that is masked, of many %j, costs a bounded time',
  (piece) => {
    const text = piece.repeat(8_000 / piece.length);
    const cost = cpuMs(() => {
      lightMask(text);
      strongMask(text.slice(0, 400));
    });
    expect(cost).toBeLessThan(500);
  },
);
