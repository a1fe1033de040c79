import { isJsonObject, type Json } from '../base/json.ts';
import type { ToolDeclaration } from './tool-semantics.ts';

/** The arguments that say what a call is about: those declared in `loopKey`, or all where none of them is there. */
export function loopArgs(args: Json, declaration: ToolDeclaration | undefined): Json {
  return picked(args, declaration?.loopKey) ?? args;
}

/**
 * What of an answer shows progress: the fields declared in `progressKey`, or undefined where nothing is declared or the
 * answer has none of them. A text that is a JSON object counts as one.
 *
 * Cost: one `JSON.parse` of the answer where a key is declared, else nothing.
 */
export function progressOf(result: Json, declaration: ToolDeclaration | undefined): Json | undefined {
  if (declaration?.progressKey === undefined) return undefined;
  return picked(typeof result === 'string' ? parsed(result) : result, declaration.progressKey);
}

function picked(value: Json, keys: readonly string[] | undefined): Json | undefined {
  if (keys === undefined || !isJsonObject(value)) return undefined;
  const found = keys.flatMap((key) => {
    const at = valueAt(value, key.split('.'));
    return at === undefined ? [] : [[key, at] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const name of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, name)) return undefined;
    at = at[name];
  }
  return at;
}

function parsed(text: string): Json {
  if (!text.trimStart().startsWith('{')) return null;
  try {
    // JSON.parse gives JSON.
    return JSON.parse(text) as Json;
  } catch {
    // An answer that is no JSON has no fields; it is compared whole.
    return null;
  }
}
