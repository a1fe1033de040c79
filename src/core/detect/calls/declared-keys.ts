import { isJsonObject, jsonOf, memberAt, type Json } from '../../base/json.ts';
import type { ToolDeclaration } from './tool-semantics.ts';

/** Names of arguments that differ in each call and have no effect: request ids and explanations. */
const IGNORED_ARGUMENT =
  /^(?:(?:req(?:uest)?|trace|span|correlation)_?id|idempotency_?key|nonce|timestamp|explanation|reason|rationale)$/i;

/** Those declared in `loopKey`; else all except request ids, explanations and empty values. */
export function comparedArgs(args: Json, declaration: ToolDeclaration | undefined): Json {
  const declaredArgs = pickMembers(args, declaration?.loopKey);
  if (declaredArgs !== undefined || !isJsonObject(args)) return declaredArgs ?? args;
  return withoutMembers(args, (name, value) => value === '' || value === null || IGNORED_ARGUMENT.test(name));
}

/** The same object if nothing would be left, or nothing is left out: most calls are not copied. */
export function withoutMembers(
  args: Readonly<Record<string, Json>>,
  isLeftOut: (name: string, value: Json) => boolean,
): Readonly<Record<string, Json>> {
  const entries = Object.entries(args);
  const others = entries.filter((entry) => !isLeftOut(...entry));
  return others.length === 0 || others.length === entries.length ? args : Object.fromEntries(others);
}

/** The fields declared in `progressKey`, also of JSON text. Undefined without a declaration or any of them. */
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
