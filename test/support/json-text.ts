import * as fc from 'fast-check';

/** Blanks that may stand between the parts of a JSON text; no line break, as in a record. */
const blank = fc.constantFrom('', '', '', ' ', '\t', '  ');

const number = fc.constantFrom(
  '0',
  '-0',
  '1.0',
  '1e3',
  '1E+3',
  '-12.50e-2',
  '12345678901234567890',
  '0.1000000000000000055511151231257827',
  '1e400',
);

/** One character of a string as it may be written: as it is, or as an escape in small or large letters. */
const character = fc.tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), fc.nat({ max: 3 })).map(spelled);

function spelled([text, how]: readonly [string, number]): string {
  const plain = JSON.stringify(text).slice(1, -1);
  if (how < 2) return plain;
  const units = Array.from({ length: text.length }, (_, at) => text.charCodeAt(at).toString(16).padStart(4, '0'));
  return units.map((unit) => `\\u${how === 2 ? unit : unit.toUpperCase()}`).join('');
}

const string = fc.oneof(
  fc.array(character, { maxLength: 6 }).map((parts) => `"${parts.join('')}"`),
  fc.constantFrom('"\\/"', '"\\\\"', '"\\\\\\""', '"a:b,{}[]"', '"\u2028"', '""'),
);

/**
 * Few names, so that a member is often written twice. No backslash in them: after an object whose name at some place is `\`, the
 * `JSON.parse` of Node 24.21 reads a name such as `"\u20ac"` at that place of another object as a backslash too.
 */
const name = fc.oneof(
  fc.constantFrom('"a"', '"\\u0061"', '"kind"', '"payload"', '"pay\\u006coad"', '"__proto__"', '"2"', '"1"'),
  string.filter((text) => !String(JSON.parse(text)).includes('\\')),
);

function listed(items: readonly string[], brackets: readonly [string, string]): string {
  return brackets[0] + items.join(',') + brackets[1];
}

const { value, member } = fc.letrec<{ value: string; member: string }>((tie) => ({
  member: fc
    .tuple(blank, name, blank, blank, tie('value'), blank)
    .map(([a, key, b, c, of, d]) => a + key + b + ':' + c + of + d),
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(number, string, fc.constantFrom('true', 'false', 'null')),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => listed(items, ['[', ' ]'])),
    fc.array(tie('member'), { maxLength: 4 }).map((items) => listed(items, ['{', '}'])),
  ),
}));

/** The text of any JSON value, spelled in every way that JSON allows within a line. */
export const jsonText: fc.Arbitrary<string> = value;

/** The text of a payload of a kind that no version knows, spelled in every way. */
export const unknownPayloadText: fc.Arbitrary<string> = fc
  .tuple(fc.array(member, { maxLength: 4 }), fc.nat({ max: 4 }))
  .map(([members, at]) => listed(members.toSpliced(at, 0, ' "kind" :"from_the_future"'), ['{', ' }']))
  // A later member may be the kind, and say what is known or no text.
  .map((text) => (hasUnknownKind(text) ? text : `${text.slice(0, -2)},"kind":"from_the_future" }`));

function hasUnknownKind(text: string): boolean {
  // An object's text was put together just now.
  return (JSON.parse(text) as Readonly<Record<string, unknown>>)['kind'] === 'from_the_future';
}
