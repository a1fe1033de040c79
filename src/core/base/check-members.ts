import { invalidArgument, type CoxswainError, invalidDefinition } from './error.ts';
import { expectedText, fitsShape, foundText, type Shape, type ShapesOf } from './shape.ts';

/** Names the options in its CoxswainError "invalid-argument". */
export function checkMembers(name: string, options: unknown, known: Readonly<Record<string, unknown>>): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalidArgument(`${name} must be an object, got ${kindOf(options)}`);
  }
  const unknownMember = Object.keys(options).find((member) => !Object.hasOwn(known, member));
  if (unknownMember === undefined) return;
  throw invalidArgument(`${name} has no member ${unknownMember}; ${nameHint(unknownMember, Object.keys(known))}`);
}

export function checkList(name: string, list: unknown): void {
  if (list === undefined || Array.isArray(list)) return;
  throw invalidArgument(`${name} must be a list, got ${kindOf(list)}`);
}

function kindOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  return value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
}

/** @throws CoxswainError "invalid-definition" if an option is unknown or does not match its shape */
export function checkedOptions<Options extends object>(
  shapes: ShapesOf<Options>,
  options: Options | undefined,
): Required<Options> {
  const values: Readonly<Record<string, unknown>> = { ...options };
  for (const name of Object.keys(values)) if (!Object.hasOwn(shapes, name)) throw unknownOption(name, shapes);
  const entries = Object.entries<Shape>(shapes).map(([name, shape]) => [name, optionOf(name, values[name], shape)]);
  // Every option is present. The type of an option without a default includes undefined.
  return Object.fromEntries(entries) as Required<Options>;
}

function unknownOption(option: string, shapes: object): CoxswainError {
  const message = `there is no option ${option.slice(0, 64)}; ${nameHint(option, Object.keys(shapes))}`;
  return invalidDefinition(message, { option });
}

function nameHint(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  const known = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
  return nearest === undefined ? known : `did you mean ${nearest}?`;
}

function optionOf(name: string, value: unknown, shape: Shape): unknown {
  if (value === undefined) return 'default' in shape ? shape.default : undefined;
  if (fitsShape(value, shape)) return value;
  throw invalidDefinition(`${name} must be ${expectedText(shape)}, got ${foundText(value)}`, { option: name });
}

/** A name that differs only in case and separators is preferred; else the edit distance is at most a third of its length. */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  if (given.length > 64) return undefined;
  const plainInput = plainName(given);
  const sameName = names.find((name) => plainName(name) === plainInput);
  if (sameName !== undefined) return sameName;
  const [longer, another] = names.filter((name) => plainName(name).startsWith(plainInput));
  if (longer !== undefined && another === undefined && plainInput.length > 2) return longer;
  let nearest: string | undefined;
  let leastDistance = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(plainInput, plainName(name));
    if (distance < leastDistance && distance <= Math.max(1, Math.floor(name.length / 3))) {
      nearest = name;
      leastDistance = distance;
    }
  }
  return nearest;
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_\-. ]/g, '');
}

export function editDistance(one: string, other: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row += 1) {
    const next = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const isSame = one[row - 1] === other[column - 1];
      let cost = Math.min(
        cellAt(last, column) + 1,
        cellAt(next, column - 1) + 1,
        cellAt(last, column - 1) + (isSame ? 0 : 1),
      );
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (isSwapped) cost = Math.min(cost, cellAt(beforeLast, column - 2) + 1);
      next.push(cost);
    }
    beforeLast = last;
    last = next;
  }
  return cellAt(last, other.length);
}

function cellAt(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
