import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { type JsonMembers, membersOf } from '../../core/base/json.ts';
import { decodeJson } from '../reading/json-text.ts';

/** Largest document of a folder that holds one per message or event. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Yields the JSON documents of a folder by name: some programs store one per message or event. None if there is no such folder. */
export function* documentsIn(folder: string): Generator<JsonMembers> {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return;
  }
  for (const name of names.toSorted()) {
    const decoded = decodeJson(textOf(join(folder, name)));
    if (decoded.ok) yield membersOf(decoded.value);
  }
}

/** The text of a file; empty, which is no JSON, for one that was deleted meanwhile, a pipe, a device and one over the limit. */
function textOf(path: string): string {
  try {
    const facts = statSync(path);
    return facts.isFile() && facts.size <= MAX_BYTES ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}
