import { hashText } from '../../core/base/hash.ts';
import { type Json, type JsonMembers, membersOf, textsIn } from '../../core/base/json.ts';
import { LruMap } from '../../core/base/lru-map.ts';
import { blocksOf } from './claude-code-entry.ts';

const LEAST_ID_CHARS = 16;
const MARK_CHARS = 80;

/**
 * Knows the messages that stand in a file already. A session that goes on may begin with its earlier messages again, under other ids and in
 * other pieces: at their own times, or at the time at which the extension of an editor was opened.
 */
export class RepeatedMessages {
  /** By what stays the same in a copy. */
  readonly #blocks: LruMap<true>;

  /** @param most  blocks that are remembered */
  constructor(most: number) {
    this.#blocks = new LruMap(most);
  }

  /** Remembers the message. */
  isRepeated(entry: JsonMembers, session: string | undefined): boolean {
    const { agentId, isSidechain, message, timestamp, type } = entry;
    const messageId = uniqueId(membersOf(message).id);
    // Older files do not say which of two subagents wrote a message.
    if (typeof timestamp !== 'string' || (isSidechain === true && agentId === undefined)) return false;
    const keys = blocksOf(entry).map((block) => {
      const { content: result, id, text, tool_use_id: resultOf } = membersOf(block);
      const content = [id, resultOf, text].find((one) => typeof one === 'string') ?? block;
      const own = uniqueId(id) ?? (uniqueId(resultOf) === undefined ? messageId : markOf(result));
      return hashText([type, session, agentId, own ?? timestamp, markOf(content)].join('\n'));
    });
    const isRepeated = keys.length > 0 && keys.every((key) => this.#blocks.has(key));
    for (const key of keys) this.#blocks.set(key, true);
    return isRepeated;
  }
}

/** An id that no two calls or messages share. Undefined for a short one: some programs count them, as in `call_1`. */
function uniqueId(id: unknown): string | undefined {
  return typeof id === 'string' && id.length >= LEAST_ID_CHARS ? id : undefined;
}

/** The length, the beginning and the end of each text: a whole one may be an image. */
function markOf(content: unknown): string {
  const texts = typeof content === 'string' ? [content] : textsIn(content as Json);
  return texts.map((text) => `${text.length} ${text.slice(0, MARK_CHARS)}${text.slice(-MARK_CHARS)}`).join('\n');
}
