import { isJsonObject, jsonOf, memberAt, type Json } from '../base/json.ts';
import type { ToolDeclaration } from './tool-semantics.ts';

/** Arguments that are new at each call and change nothing: ids of the request, and explanations. */
const ASIDE =
  /^(?:(?:req(?:uest)?|trace|span|correlation)_?id|idempotency_?key|nonce|timestamp|explanation|reason|rationale)$/i;

/**
 * The arguments by which a call is compared: those declared in `loopKey`, or else all arguments without ids of the request,
 * explanations and empty values.
 */
export function loopArgs(args: Json, declaration: ToolDeclaration | undefined): Json {
  const declared = picked(args, declaration?.loopKey);
  if (declared !== undefined || !isJsonObject(args)) return declared ?? args;
  // Most calls have none, and are not copied.
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
 * The part of an answer that shows progress: the fields declared in `progressKey`, or undefined without a declaration or if the
 * answer has none of them. A text that is a JSON object counts as one.
 *
 * Cost: one `JSON.parse` of the answer if a key is declared.
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
