import { isJsonObject } from '../../src/core/base/json.ts';

/** The data of every event of a server-sent stream, decoded; a closing `[DONE]` is left out. */
export async function streamEvents(response: Response): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const events: Readonly<Record<string, unknown>>[] = [];
  for (const line of (await response.text()).split('\n')) {
    if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
    const data: unknown = JSON.parse(line.slice('data: '.length));
    if (isJsonObject(data)) events.push(data);
  }
  return events;
}
