import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';

/** The value of a JSON text, or its syntax error. Line and column numbers start at 1. */
export type JsonReading =
  | { readonly value: unknown }
  | { readonly message: string; readonly line: number; readonly column: number };

/**
 * Parses JSON with comments and trailing commas, as in `.jsonc` files. Tries `JSON.parse` first, which is faster.
 *
 * @param options.allowEmptyContent  true: returns undefined for an empty text instead of an error; default: false
 */
export function readJson(text: string, options: { readonly allowEmptyContent?: boolean } = {}): JsonReading {
  // Editors on Windows may write a byte order mark.
  const textWithoutBom = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    return { value: JSON.parse(textWithoutBom) as unknown };
  } catch {
    return readJsonc(textWithoutBom, options);
  }
}

function readJsonc(text: string, options: { readonly allowEmptyContent?: boolean }): JsonReading {
  const errors: ParseError[] = [];
  try {
    const tree = parseTree(text, errors, { allowTrailingComma: true, ...options });
    const [error] = errors;
    if (error === undefined) return { value: tree === undefined ? undefined : valueOf(tree) };
    const linesBefore = text.slice(0, error.offset).split('\n');
    // Error codes are names such as `CommaExpected`.
    const message = printParseErrorCode(error.error).replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`);
    return { message: message.toLowerCase(), line: linesBefore.length, column: (linesBefore.at(-1) ?? '').length + 1 };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { message: 'brackets are nested too deeply', line: 1, column: 1 };
  }
}

/** Returns the value of a syntax tree. If a name occurs several times in an object, the last value applies, as in JSON.parse. */
function valueOf(node: Node): unknown {
  if (node.type === 'array') return (node.children ?? []).map(valueOf);
  if (node.type !== 'object') return node.value;
  // Assigning to `__proto__` would set the prototype instead of a field.
  return Object.fromEntries(
    (node.children ?? []).map(({ children: [name, value] = [] }) => [
      name?.value,
      value === undefined ? undefined : valueOf(value),
    ]),
  );
}
