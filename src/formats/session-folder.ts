import { open } from 'node:fs/promises';

import { isAbsolute } from 'node:path';

import { isJsonObject, jsonOf } from '../core/base/json.ts';

/** Number of bytes read. Programs write the working folder in the first entries. */
const HEAD_BYTES = 262_144;

/**
 * Returns the initial working folder of the session in a file. Claude Code, Codex, Copilot CLI and pi write it. Undefined if
 * the file does not contain it, is compressed, or cannot be read.
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
  // The last line of the bytes read is usually truncated.
  const entry = jsonOf(line);
  if (!isJsonObject(entry)) return undefined;
  const { data, payload } = entry;
  const context = isJsonObject(data) ? data['context'] : undefined;
  for (const place of [entry, payload, context]) {
    if (isJsonObject(place) && typeof place['cwd'] === 'string' && isAbsolute(place['cwd'])) return place['cwd'];
  }
  return undefined;
}
