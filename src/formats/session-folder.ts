import { open } from 'node:fs/promises';

import { isJsonObject, jsonOf } from '../base/json.ts';

/** Programs name the folder in the first entries. */
const HEAD_BYTES = 262_144;

/**
 * The folder that the session in a file worked in at its beginning, as Claude Code, Codex, Copilot CLI and pi write it; undefined
 * where the file does not say, is packed or cannot be read.
 *
 * Cost: reads the first 256 kB.
 */
export async function sessionFolder(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    for (const line of buffer.toString('utf8', 0, bytesRead).split('\n')) {
      const folder = folderIn(line);
      if (folder !== undefined) return folder;
    }
    return undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

function folderIn(line: string): string | undefined {
  if (!line.includes('"cwd"')) return undefined;
  // The last line of the head is most often cut.
  const entry = jsonOf(line);
  if (!isJsonObject(entry)) return undefined;
  const { data, payload } = entry;
  const context = isJsonObject(data) ? data['context'] : undefined;
  for (const place of [entry, payload, context]) {
    if (isJsonObject(place) && typeof place['cwd'] === 'string' && place['cwd'] !== '') return place['cwd'];
  }
  return undefined;
}
