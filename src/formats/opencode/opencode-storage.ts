import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { membersOf, type JsonMembers } from '../parts/json-member.ts';
import { textOrUndefined } from '../parts/source-content.ts';
import { decodeJson } from '../reading/json-text.ts';

const ENTRY_ID = /^\w{1,80}$/;

/**
 * The messages of a session of the storage folder, oldest first: ids grow with time. What cannot be read is passed over.
 *
 * @param sessionFile  `storage/session/<project>/<id>.json`
 */
export function* storedMessages(
  sessionFile: string,
  sessionId: string,
): Generator<{ readonly info: JsonMembers; readonly parts: readonly unknown[] }> {
  const storage = dirname(dirname(dirname(sessionFile)));
  for (const info of documentsIn(join(storage, 'message', sessionId))) {
    const id = textOrUndefined(info.id) ?? '';
    yield { info, parts: ENTRY_ID.test(id) ? [...documentsIn(join(storage, 'part', id))] : [] };
  }
}

function* documentsIn(folder: string): Generator<JsonMembers> {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    // A message without parts has no folder.
    return;
  }
  for (const name of names.toSorted()) {
    const decoded = decodeJson(readText(join(folder, name)));
    if (decoded.ok) yield membersOf(decoded.value);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It was deleted since the folder was listed; an empty text is no JSON.
    return '';
  }
}
