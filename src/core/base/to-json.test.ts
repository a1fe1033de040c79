import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { InputFault } from './input-fault.ts';
import { toJson, VALUE_LIMITS, ValueBudget } from './to-json.ts';

function noted(value: unknown): { readonly json: unknown; readonly faults: readonly InputFault[] } {
  const faults: InputFault[] = [];
  const json = toJson(value, new ValueBudget((fault) => faults.push(fault)));
  return { json, faults };
}

function nodesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + Object.values(value).reduce((sum: number, member) => sum + nodesOf(member), 0);
}

test('plain JSON comes back as it is, and shares nothing with the value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value));
      const { json, faults } = noted(plain);
      expect(json).toEqual(plain);
      expect(faults).toEqual([]);
      expect(json === plain).toBe(typeof plain !== 'object' || plain === null);
    }),
  );
});

test('what JSON.stringify can write becomes what it writes', () => {
  fc.assert(
    fc.property(fc.anything({ withDate: true, withNullPrototype: true, withSparseArray: true }), (value) => {
      const stored = JSON.stringify(toJson(value));
      expect(JSON.stringify(JSON.parse(stored))).toBe(stored);
      // JSON.stringify answers undefined for what has no JSON at all, whatever its type says; that is stored as null.
      expect(stored).toBe((JSON.stringify(value) as string | undefined) ?? 'null');
    }),
  );
});

class Money {
  readonly amount = 3;
  toJSON(): string {
    return `${this.amount} EUR`;
  }
}

test.each<readonly [string, unknown, unknown]>([
  ['undefined', undefined, null],
  ['a function', () => 1, '[function]'],
  ['a symbol', Symbol('a'), '[Symbol(a)]'],
  ['a member that is a function', { run: (): number => 1, a: 1 }, { a: 1 }],
  ['a small bigint', 7n, 7],
  ['a large bigint', 2n ** 70n, '1180591620717411303424'],
  ['a huge bigint', 1n << 100_000n, '[a bigint of more than 1024 bits]'],
  ['a date beside a bigint', { at: new Date(0), n: 1n }, { at: '1970-01-01T00:00:00.000Z', n: 1 }],
  ['a broken date', new Date(Number.NaN), null],
  ['a map of texts', new Map([['a', new Set([1, 2])]]), { a: [1, 2] }],
  ['a map of objects', new Map([[{ k: 1 }, 2]]), [[{ k: 1 }, 2]]],
  ['an expression', /a+/g, '/a+/g'],
  ['a URL', new URL('https://example.org/a'), 'https://example.org/a'],
  ['minus zero', [-0], [0]],
  ['half a surrogate pair', '\ud800', '\ud800'],
  ['boxed values', [new Number(1), new String('a'), new Boolean(false)], [1, 'a', false]],
  ['a class with toJSON', { price: new Money() }, { price: '3 EUR' }],
  ['a promise', [Promise.resolve(1)], ['[promise]']],
  ['a member called __proto__', JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}')],
  [
    'a blob',
    new Blob(['abc'], { type: 'text/plain' }),
    { type: 'binary', name: 'Blob', media_type: 'text/plain', bytes: 3 },
  ],
])('%s becomes something sensible', (_name, value, expected) => {
  expect(toJson(value)).toEqual(expected);
});

test('an error keeps its name, message, code and cause, and not its stack', () => {
  const error = Object.assign(new TypeError('no such file', { cause: new Error('disk') }), {
    code: 'ENOENT',
    errno: -2,
  });
  expect(toJson({ error })).toEqual({
    error: {
      name: 'TypeError',
      message: 'no such file',
      code: 'ENOENT',
      errno: -2,
      cause: { name: 'Error', message: 'disk' },
    },
  });
});

test('what throws when it is read leaves a mark, and the rest stays', () => {
  const throwing = {
    a: 1,
    get b(): never {
      throw new Error('no b');
    },
    rude: {
      c: 2,
      toJSON(): never {
        throw new Error('no');
      },
    },
  };
  const { json, faults } = noted(throwing);
  expect(json).toEqual({ a: 1, b: '[unreadable: no b]', rude: { c: 2 } });
  expect(faults).toEqual(['unreadable', 'unreadable']);
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  expect(toJson([proxy])).toEqual([expect.stringContaining('[unreadable')]);
  const never = new Proxy(
    {},
    {
      get: () => never,
      ownKeys: () => ['x'],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    },
  );
  expect(nodesOf(toJson(never))).toBeLessThan(2 * VALUE_LIMITS.depth);
  const endless: unknown = new Proxy([], { get: (_target, key) => (key === 'length' ? Infinity : 1) });
  expect(toJson(endless)).toEqual([]);
});

test('a cycle is marked, and a value that is met twice is not', () => {
  const knot: Record<string, unknown> = { name: 'knot' };
  knot['self'] = knot;
  expect(noted(knot)).toEqual({ json: { name: 'knot', self: '[circular]' }, faults: ['cycles'] });
  const shared = { a: 1 };
  expect(toJson([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
});

test('references that are shared over and over are not expanded beyond the limit', () => {
  let graph: unknown = { leaf: true };
  for (let level = 0; level < 50; level += 1) graph = { left: graph, right: graph };
  expect(nodesOf(toJson(graph))).toBeLessThan(3 * VALUE_LIMITS.nodes);
});

test('a long list keeps its head and its tail, and says how much is left out', () => {
  const total = 80_000;
  const { json, faults } = noted(Array.from({ length: total }, (_, index) => ({ index })));
  if (!Array.isArray(json)) throw new Error('it is no list');
  const items: readonly unknown[] = json;
  expect(items[0]).toEqual({ index: 0 });
  expect(items.at(-1)).toEqual({ index: total - 1 });
  expect(items.filter((item) => typeof item === 'string')).toEqual([
    expect.stringContaining(`of ${total} items left out`),
  ]);
  expect(faults).toContain('cutValues');
  expect(nodesOf(json)).toBeLessThan(VALUE_LIMITS.nodes + 10);
});

test('an object of very many members keeps the first and the last ones', () => {
  const members = Object.fromEntries(Array.from({ length: 80_000 }, (_, index) => [`m${index}`, index]));
  const json = toJson(members);
  expect(json).toMatchObject({ m0: 0, m79999: 79_999, '…': expect.stringContaining('of 80000 members left out') });
});

test('a list with a length and nothing in it costs no more than the limit', () => {
  // oxlint-disable-next-line unicorn/no-new-array
  const holes: unknown[] = new Array(4_000_000_000);
  expect(nodesOf(toJson(holes))).toBeLessThan(VALUE_LIMITS.nodes + 10);
});

test('no more items of a list are read than are kept', () => {
  let reads = 0;
  const items = Array.from({ length: 1_000_000 }, (_, index) => index);
  const watched: unknown = new Proxy(items, {
    get: (target, key): unknown => {
      reads += 1;
      return Reflect.get(target, key);
    },
  });
  toJson(watched);
  expect(reads).toBeLessThan(VALUE_LIMITS.nodes + 10);
});

test('no more bytes are read than the digest is made of', () => {
  const bytes = new Uint8Array(1_000_000);
  const before = toJson(bytes);
  // Between two blocks of the sample.
  bytes.fill(1, 18_000, 40_000);
  expect(toJson(bytes)).toEqual(before);
  bytes.fill(1, 0, 10);
  expect(toJson(bytes)).not.toEqual(before);
});

test('a short object keeps every member, whatever one of them holds', () => {
  const json = toJson({ big: Array.from({ length: 50_000 }, () => 1), status: 'failed', code: 3 });
  expect(json).toMatchObject({ status: 'failed', code: 3 });
});

test('a value within the limits is never cut', () => {
  const value = { rows: Array.from({ length: 2_000 }, (_, index) => ({ index, name: `n${index}`, at: new Date(0) })) };
  const { json, faults } = noted(value);
  expect(faults).toEqual([]);
  expect(JSON.stringify(json)).toBe(JSON.stringify(value));
});

test('bytes are stored as type, size and digest', () => {
  const bytes = new Uint8Array(3_000_000).fill(7);
  const { json, faults } = noted({ file: bytes, same: Buffer.from(bytes), raw: bytes.buffer });
  const digest = expect.stringMatching(/^[0-9a-f]{16}$/);
  expect(json).toMatchObject({
    file: { type: 'binary', name: 'Uint8Array', bytes: 3_000_000, digest },
    raw: { type: 'binary', name: 'ArrayBuffer', bytes: 3_000_000, digest },
  });
  expect(faults).toEqual(['binaries', 'binaries', 'binaries']);
  expect(toJson(new Uint8Array([1, 2]))).not.toEqual(toJson(new Uint8Array([1, 3])));
  expect(toJson(new Uint8Array(200_000))).toEqual(toJson(new Uint8Array(200_000)));
});

test('a picture is stored as type, size and digest, the same one wherever it stands', () => {
  const data = Buffer.alloc(9_000, 1).toString('base64');
  const url = `data:image/png;base64,${data}`;
  const digest = expect.stringMatching(/^[0-9a-f]{16}$/);
  const mark = { type: 'binary', name: 'base64', media_type: 'image/png', bytes: 9_000, digest };
  const forms: readonly unknown[] = [
    { type: 'image_url', image_url: { url } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
    { type: 'image', mimeType: 'image/png', data },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data } },
    { type: 'image', data },
    { type: 'input_audio', input_audio: { data, format: 'wav' } },
  ];
  const stored = toJson(forms);
  expect(JSON.stringify(stored)).not.toContain(data.slice(0, 100));
  expect(stored).toMatchObject([{ image_url: { url: mark } }, { source: { data: mark } }, { data: mark }, {}, {}, {}]);
  const digests = JSON.stringify(stored).match(/"digest":"\w+"/g);
  expect([digests?.length, new Set(digests).size]).toEqual([6, 1]);
});

test('a data URL within a text leaves its type, size and digest there; what only looks like bytes stays', () => {
  const data = Buffer.alloc(900, 1).toString('base64');
  const text = JSON.stringify({ ok: true, shot: `data:image/png;base64,${data}` });
  expect(toJson(text)).toMatch(/^\{"ok":true,"shot":"\[image\/png, 900 bytes, digest \w{16}\]"\}$/);
  const plain = { data, text: 'a'.repeat(200), url: 'data:image/png;base64,AAAA', type: 'row' };
  expect(toJson(plain)).toEqual(plain);
});

test('nesting stops at the limit', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(JSON.stringify(toJson(deep))).toContain('deeper than 64 levels');
});
