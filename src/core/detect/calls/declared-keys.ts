import { isJsonObject, jsonOf, memberAt, type Json } from '../../base/json.ts';
import type { ToolDeclaration } from './tool-semantics.ts';

/** Names of arguments that differ in each call and have no effect: request ids and explanations. */
const IGNORED_ARGUMENT =
  /^(?:(?:req(?:uest)?|trace|span|correlation)_?id|idempotency_?key|nonce|timestamp|explanation|reason|rationale)$/i;

/** Those declared in `loopKey`; else all except request ids, explanations and empty values. */
export function comparedArgs(args: Json, declaration: ToolDeclaration | undefined): Json {
  const declaredArgs = pickMembers(args, declaration?.loopKey);
  if (declaredArgs !== undefined || !isJsonObject(args)) return declaredArgs ?? args;
  // Most calls contain no such argument, so they are not copied.
  for (const name in args) {
    if (!isIgnored(name, args[name])) continue;
    const comparedEntries = Object.entries(args).filter((entry) => !isIgnored(...entry));
    return comparedEntries.length === 0 ? args : Object.fromEntries(comparedEntries);
  }
  return args;
}

function isIgnored(name: string, value: unknown): boolean {
  return value === '' || value === null || IGNORED_ARGUMENT.test(name);
}

/**
 * The fields declared in `progressKey`. Undefined without a declaration or any of the fields. A text with a JSON object
 * is parsed.
 */
export function progressOf(result: Json, declaration: ToolDeclaration | undefined): Json | undefined {
  if (declaration?.progressKey === undefined) return undefined;
  return pickMembers(typeof result === 'string' ? (jsonOf(result) ?? null) : result, declaration.progressKey);
}

function pickMembers(value: Json, keys: readonly string[] | undefined): Json | undefined {
  if (keys === undefined || !isJsonObject(value)) return undefined;
  const members = keys.flatMap((key) => {
    const member = memberAt(value, key.split('.'));
    return member === undefined ? [] : [[key, member] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
