import * as fc from 'fast-check';

/** Where to change a value, one number a level, and what to put there. */
interface Change {
  readonly path: readonly number[];
  readonly value: unknown;
}

/**
 * Variants of a JSON value with up to four places replaced by arbitrary JSON, removed or doubled: input that
 * looks like a format until it does not.
 */
export function mutatedJson(value: unknown): fc.Arbitrary<unknown> {
  const change = fc.record({
    path: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 8 }),
    value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(undefined, null, '', [], {}, 0, -1, true)),
  });
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    let mutated = value;
    for (const one of changes) mutated = changed(mutated, one);
    return mutated;
  });
}

function changed(value: unknown, change: Change): unknown {
  const [step, ...rest] = change.path;
  if (step === undefined || typeof value !== 'object' || value === null) return change.value;
  const deeper = (member: unknown): unknown => changed(member, { path: rest, value: change.value });
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    if (items.length === 0) return change.value;
    const at = step % items.length;
    return items.map((item, index) => (index === at ? deeper(item) : item));
  }
  const entries: [string, unknown][] = Object.entries(value);
  if (entries.length === 0) return change.value;
  const at = step % entries.length;
  const members = entries.map(([key, member], index) => [key, index === at ? deeper(member) : member] as const);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}
