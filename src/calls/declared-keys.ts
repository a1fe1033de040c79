import { isJsonObject, jsonOf, memberAt, type Json } from '../base/json.ts';
import type { ToolDeclaration } from './tool-semantics.ts';

/** Names of arguments that differ in each call and have no effect: request ids and explanations. */
const ASIDE =
  /^(?:(?:req(?:uest)?|trace|span|correlation)_?id|idempotency_?key|nonce|timestamp|explanation|reason|rationale)$/i;

/**
 * Returns the arguments used to compare calls: the arguments declared in `loopKey`. Without a declaration: all arguments except
 * request ids, explanations and empty values.
 */
export function loopArgs(args: Json, declaration: ToolDeclaration | undefined): Json {
  const declared = picked(args, declaration?.loopKey);
  if (declared !== undefined || !isJsonObject(args)) return declared ?? args;
  // Most calls contain no such argument, so they are not copied.
  for (const name in args) {
    if (!isAside(name, args[name])) continue;
    const compared = Object.entries(args).filter((entry) => !isAside(...entry));
    return compared.length === 0 ? args : Object.fromEntries(compared);
  }
  return args;
}

function isAside(name: string, value: unknown): boolean {
  return value === '' || value === null || ASIDE.test(name);
}

/**
 * Returns the part of a result that shows progress: the fields declared in `progressKey`. Returns undefined without a declaration,
 * or if the result contains none of the fields. A text that contains a JSON object is parsed.
 *
 * Cost: one `JSON.parse` of the result if a key is declared.
 */
export function progressOf(result: Json, declaration: ToolDeclaration | undefined): Json | undefined {
  if (declaration?.progressKey === undefined) return undefined;
  return picked(typeof result === 'string' ? (jsonOf(result) ?? null) : result, declaration.progressKey);
}

function picked(value: Json, keys: readonly string[] | undefined): Json | undefined {
  if (keys === undefined || !isJsonObject(value)) return undefined;
  const found = keys.flatMap((key) => {
    const at = memberAt(value, key.split('.'));
    return at === undefined ? [] : [[key, at] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
