import { checkTogether, type ConfigReading } from './check-together.ts';
import type { ConfigProblem } from './config-problem.ts';
import { configShape } from './config-shape.ts';
import type { CoxswainConfig } from './coxswain-config.ts';
import { nearestName } from '../../core/base/check-members.ts';
import { present, isJsonObject } from '../../core/base/json.ts';
import {
  expectedText,
  fitsShape,
  foundText,
  typeOf,
  type ListShape,
  type MapShape,
  type ObjectShape,
  type Shape,
} from '../../core/base/shape.ts';
import { parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';

export interface ConfigField {
  /** Such as `guidance.doomLoop.maxRepetitions`, with `[]` for any item of a list and `*` for any name. */
  readonly path: string;
  readonly shape: Shape;
}

/** Returns every field. Parents come before their children. Recursive shapes are not expanded. */
export function configFields(): readonly ConfigField[] {
  if (cachedFields === undefined) {
    const fields: ConfigField[] = [];
    collectFields(configShape, '', fields);
    cachedFields = fields;
  }
  return cachedFields;
}

/** Computed on first use, because only error messages need the fields. */
let cachedFields: readonly ConfigField[] | undefined;

function collectFields(shape: Shape, path: string, fields: ConfigField[]): void {
  switch (shape.kind) {
    case 'object':
      for (const [name, field] of Object.entries(shape.fields)) {
        const fieldPath = path === '' ? name : `${path}.${name}`;
        fields.push({ path: fieldPath, shape: field });
        collectFields(field, fieldPath, fields);
      }
      return;
    case 'either':
      for (const one of shape.shapes) collectFields(one, path, fields);
      return;
    case 'list':
      collectFields(shape.items, `${path}[]`, fields);
      return;
    case 'map':
      collectFields(shape.values, `${path}.*`, fields);
      return;
    default:
  }
}

/** The value of a JSON text, or its syntax error. Line and column numbers start at 1. */
type JsonReading =
  | { readonly value: unknown }
  | { readonly message: string; readonly line: number; readonly column: number };

/**
 * Comments and trailing commas are allowed; `JSON.parse` is tried first, because it is faster.
 *
 * @param options.allowEmptyContent  undefined for an empty text instead of an error; default: false
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

const MAX_PROBLEMS = 100;

const MAX_NESTING = 8;

const VOID: unique symbol = Symbol('void');

interface DecodeShapeOptions {
  readonly report: (problem: ConfigProblem) => unknown;
  readonly suggestName: (name: string, names: readonly string[]) => string | undefined;
}

/** Reports the parts that do not match. Returns undefined if no part matches Cost: one traversal of the value. */
export function decodeShape(value: unknown, shape: Shape, options: DecodeShapeOptions): unknown {
  const decoded = new ShapeDecoder(options).decode(value, shape, '', 0);
  return decoded === VOID ? undefined : decoded;
}

class ShapeDecoder {
  readonly #options: DecodeShapeOptions;
  #count = 0;

  constructor(options: DecodeShapeOptions) {
    this.#options = options;
  }

  decode(value: unknown, shape: Shape, path: string, nesting: number): unknown {
    switch (shape.kind) {
      case 'flag':
      case 'number':
      case 'text':
      case 'choice':
        return fitsShape(value, shape) ? value : this.#reportWrong(value, shape, path);
      case 'list':
        return this.#decodeList(value, shape, path, nesting);
      case 'map':
        return this.#decodeMap(value, shape, path, nesting);
      case 'object':
        return this.#decodeObject(value, shape, path, nesting);
      case 'either': {
        const fittingShape = shape.shapes.find((one) => typeOf(one) === jsonTypeOf(value));
        return fittingShape === undefined
          ? this.#reportWrong(value, shape, path)
          : this.decode(value, fittingShape, path, nesting);
      }
      case 'lazy':
        if (nesting < MAX_NESTING) return this.decode(value, shape.shape(), path, nesting + 1);
        return this.#addProblem({ path, kind: 'together', message: `is nested more than ${MAX_NESTING} deep` });
      default:
        return shape;
    }
  }

  #decodeList(value: unknown, shape: ListShape, path: string, nesting: number): unknown {
    if (!Array.isArray(value)) return this.#reportWrong(value, shape, path);
    if (value.length < shape.minItems || value.length > shape.maxItems) return this.#reportWrong(value, shape, path);
    const items = value.map((item, index) => this.decode(item, shape.items, `${path}[${index}]`, nesting));
    const validItems = items.filter((item) => item !== VOID);
    if (validItems.length === items.length) return items;
    return shape.items.kind === 'object' && validItems.length >= shape.minItems ? validItems : VOID;
  }

  #decodeMap(value: unknown, shape: MapShape, path: string, nesting: number): unknown {
    if (!isJsonObject(value) || Object.keys(value).length > shape.maxItems)
      return this.#reportWrong(value, shape, path);
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const memberPath = `${path}.${name}`;
        if (name === '' || Array.from(name).length > shape.maxNameChars) {
          const message = `a name has 1 to ${shape.maxNameChars} characters`;
          this.#addProblem({ path: memberPath.slice(0, 200), kind: 'value', message });
          return [];
        }
        const decoded = this.decode(member, shape.values, memberPath, nesting);
        return decoded === VOID ? [] : [[name, decoded] as const];
      }),
    );
  }

  #decodeObject(value: unknown, shape: ObjectShape, path: string, nesting: number): unknown {
    if (!isJsonObject(value)) return this.#reportWrong(value, shape, path);
    const countBefore = this.#count;
    const validMembers: (readonly [string, unknown])[] = [];
    const members = Object.entries(value).filter(([, member]) => member !== undefined);
    for (const [name, member] of members) {
      const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
      if (field === undefined) {
        this.#reportUnknown(name, Object.keys(shape.fields), path);
        continue;
      }
      const decoded = this.decode(member, field, path === '' ? name : `${path}.${name}`, nesting);
      if (decoded !== VOID) validMembers.push([name, decoded]);
    }
    const isComplete = this.#checkMembers(new Set(members.map(([name]) => name)), shape, path);
    const hasRequired = (shape.required ?? []).every((name) => validMembers.some(([known]) => known === name));
    if (!isComplete || !hasRequired || (shape.members !== undefined && validMembers.length === 0)) return VOID;
    return shape.strict === true && this.#count > countBefore ? VOID : Object.fromEntries(validMembers);
  }

  #checkMembers(members: ReadonlySet<string>, shape: ObjectShape, path: string): boolean {
    const missingNames = (shape.required ?? []).filter((name) => !members.has(name));
    for (const name of missingNames) this.#addProblem({ path, kind: 'value', message: `${name} is missing` });
    const count = members.size;
    const names = Object.keys(shape.fields).join(', ');
    if (shape.members === 'some' && count === 0) {
      this.#addProblem({ path, kind: 'value', message: `is empty; give at least one of ${names}` });
    }
    if (shape.members === 'one' && count !== 1) {
      this.#addProblem({ path, kind: 'value', message: `needs exactly one of ${names}; it has ${count}` });
    }
    return missingNames.length === 0 && (shape.members !== 'one' || count === 1);
  }

  #reportUnknown(name: string, names: readonly string[], path: string): void {
    if (this.#isFull()) return;
    const suggestion = this.#options.suggestName(name, names);
    const memberPath = path === '' ? name : `${path}.${name}`;
    this.#addProblem({
      path: memberPath.slice(0, 200),
      kind: 'unknown-field',
      message:
        suggestion === undefined ? `there is no such field; there are ${names.join(', ')}` : 'there is no such field',
      ...present({ suggestion }),
    });
  }

  #reportWrong(value: unknown, shape: Shape, path: string): typeof VOID {
    if (this.#isFull()) return VOID;
    const suggestion = suggestValue(value, shape);
    const foundValue = foundText(value, shape.kind === 'text' && shape.isSecret === true);
    return this.#addProblem({
      path,
      kind: 'value',
      message: `must be ${expectedText(shape)}, got ${foundValue}`,
      ...present({ suggestion }),
    });
  }

  /** Suggestions take time, and a file with many problems must not delay an agent. */
  #isFull(): boolean {
    if (this.#count < MAX_PROBLEMS) return false;
    this.#count += 1;
    return true;
  }

  #addProblem(problem: ConfigProblem): typeof VOID {
    this.#count += 1;
    if (this.#count <= MAX_PROBLEMS) this.#options.report(problem);
    return VOID;
  }
}

function jsonTypeOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;
}

function suggestValue(value: unknown, shape: Shape): string | undefined {
  if (shape.kind === 'either') {
    return shape.shapes.map((one) => suggestValue(value, one)).find((suggestion) => suggestion !== undefined);
  }
  if (typeof value === 'string') {
    const plainText = value.trim();
    if (shape.kind === 'choice') {
      const name = nearestName(plainText, shape.values);
      return name === undefined ? undefined : JSON.stringify(name);
    }
    if (shape.kind === 'flag' && /^(?:true|false)$/i.test(plainText)) return plainText.toLowerCase();
    if (shape.kind === 'number' && /^-?\d{1,15}(?:\.\d{1,6})?$/.test(plainText)) return plainText;
    if (shape.kind === 'list' && typeOf(shape.items) === 'string' && plainText !== '')
      return listOf(plainText, shape.items);
  }
  if (shape.kind === 'number' && typeof value === 'number' && shape.whole && Number.isFinite(value)) {
    const nearestValue = Math.min(shape.max, Math.max(shape.min, Math.round(value)));
    return Number.isInteger(value) ? undefined : String(nearestValue);
  }
  if (shape.kind === 'list' && typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return typeOf(shape.items) === 'object' ? 'a list with this object in it' : undefined;
  }
  return undefined;
}

/** Returns a list as JSON text. A command line is split into words. Any other text becomes the only item. */
function listOf(plainText: string, items: Shape): string | undefined {
  if (plainText.length > 80 || (items.kind === 'text' && items.isSecret === true)) return undefined;
  const words = items.kind === 'text' && items.is.startsWith('a program') ? plainText.split(/\s+/) : [plainText];
  return `[${words.map((word) => JSON.stringify(word)).join(', ')}]`;
}

/** A valid configuration, or up to 100 problems. */
export type DecodedConfig = { readonly config: CoxswainConfig } | { readonly problems: readonly ConfigProblem[] };

/**
 * Decodes a configuration and checks it completely. A run can start with the returned configuration.
 *
 * @param json  the result of `JSON.parse`
 * Cost: one traversal of the value.
 */
export function decodeConfig(json: unknown): DecodedConfig {
  const { config, problems } = readConfig(json);
  if (problems.length > 0) return { problems };
  const checked = checkTogether(config);
  return checked.problems.length > 0 ? { problems: checked.problems } : { config: checked.config };
}

/** Decodes the fields of one file and checks each field on its own. `checkTogether` checks the merged files. */
export function readConfig(json: unknown): ConfigReading {
  const problems: ConfigProblem[] = [];
  const decoded = decodeShape(json, configShape, { report: (problem) => problems.push(problem), suggestName });
  // `satisfies ShapesOf` guarantees that the shape matches the type.
  return { config: decoded ?? {}, problems };
}

/** Like `readConfig`, for the text of a file. Comments are allowed. Syntax problems contain line and column numbers. */
export function readConfigText(text: string): ConfigReading {
  const reading = readJson(text);
  if ('value' in reading) return readConfig(reading.value);
  const { message, line, column } = reading;
  return {
    config: {},
    problems: [{ path: '', kind: 'syntax', message: `line ${line}, column ${column}: ${message}`, line, column }],
  };
}

/** Names of patterns that another detector finds: `cycle` also finds `ping_pong`. */
const OTHER_NAMES: Readonly<Record<string, string>> = { ping_pong: 'cycle', pingPong: 'cycle' };

function suggestName(name: string, names: readonly string[]): string | undefined {
  const otherName = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
  if (otherName !== undefined && names.includes(otherName)) return JSON.stringify(otherName);
  const nearName = nearestName(name, names);
  if (nearName !== undefined) return JSON.stringify(nearName);
  const places = configFields()
    .map(({ path }) => path)
    .filter((path) => path.endsWith(`.${name}`) && !path.includes('[]'));
  const fewestParts = Math.min(...places.map((path) => path.split('.').length));
  const shortestPlaces = places.filter((path) => path.split('.').length === fewestParts);
  return shortestPlaces.length === 0 || shortestPlaces.length > 3
    ? undefined
    : shortestPlaces.map((path) => JSON.stringify(path)).join(' or ');
}
