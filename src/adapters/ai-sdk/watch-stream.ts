import { wordSet } from '../../core/base/word-set.ts';
import { isJsonObject } from '../../core/base/json.ts';
import type { PreparedRequest } from './agent-loop.ts';
import { takeAnswer, type ModelWatch } from './attempt.ts';
import { readModelAnswer } from './read-answer.ts';
import { textField, type SdkFields } from './sdk-shapes.ts';

const PASSING: ReadonlySet<string> = wordSet(
  'stream-start ping raw error text-end reasoning-end tool-input-start tool-input-delta tool-input-end',
);

export class StreamCollector {
  readonly #content: SdkFields[] = [];
  readonly #texts = new Map<string, { type: string; text: string }>();
  #finish: SdkFields = {};
  #response: SdkFields = {};

  /** @returns the answer text in the part */
  add(part: SdkFields): string {
    const type = textField(part, 'type');
    switch (type) {
      case 'text-start':
      case 'reasoning-start':
        this.#open(part);
        return '';
      case 'text-delta':
      case 'reasoning-delta': {
        const delta = textField(part, 'delta');
        (this.#texts.get(keyOf(part)) ?? this.#open(part)).text += delta;
        return type === 'text-delta' ? delta : '';
      }
      case 'response-metadata':
        this.#response = part;
        return '';
      case 'finish':
        this.#finish = part;
        return '';
      default:
        if (!PASSING.has(type)) this.#content.push(part);
        return '';
    }
  }

  result(): SdkFields {
    const { finishReason, usage } = this.#finish;
    return { content: [...this.#content], finishReason, usage, response: this.#response };
  }

  #open(part: SdkFields): { text: string } {
    const block = { type: kindOf(part), text: '' };
    this.#texts.set(keyOf(part), block);
    this.#content.push(block);
    return block;
  }
}

function kindOf(part: SdkFields): string {
  return textField(part, 'type').replace(/-\w+$/, '');
}

function keyOf(part: SdkFields): string {
  return `${kindOf(part)} ${textField(part, 'id')}`;
}

/** Watches the stream of `doStream`. The answer is handled before its last part passes, because the SDK then runs the tools. */
export function watchStream(result: unknown, prepared: PreparedRequest, watch: ModelWatch): unknown {
  const { loop, guard } = watch;
  const source = isJsonObject(result) ? result['stream'] : undefined;
  if (!isStream(source) || !isJsonObject(result)) {
    loop.unrecognised('stream', typeof result);
    return result;
  }
  const reader = source.getReader();
  const collector = new StreamCollector();
  let isDone = false;
  const fail = (error: unknown): void => {
    if (isDone) return;
    isDone = true;
    guard('a broken stream', () => loop.failed(prepared, error, readModelAnswer(collector.result())));
  };
  const hear = (part: SdkFields): void => {
    const delta = collector.add(part);
    if (delta !== '') guard('a delta', () => loop.heardDelta(delta));
    if (part['type'] === 'error') fail(part['error']);
    if (part['type'] !== 'finish' || isDone) return;
    isDone = true;
    takeAnswer(prepared, collector.result(), watch);
  };
  const pull = async (controller: ReadableStreamDefaultController<unknown>): Promise<void> => {
    try {
      const { done, value } = await reader.read();
      if (isJsonObject(value)) hear(value);
      if (done) fail(new Error('the stream ended before the answer was complete'));
      if (done) controller.close();
      else controller.enqueue(value);
    } catch (error) {
      fail(error);
      throw error;
    }
  };
  const cancel = async (reason: unknown): Promise<void> => {
    fail(new DOMException('the reader cancelled the stream', 'AbortError'));
    await reader.cancel(reason);
  };
  // The high-water mark is 0, so the model is read on demand, as without coxswain.
  return { ...result, stream: new ReadableStream({ pull, cancel }, { highWaterMark: 0 }) };
}

/** Checks the methods instead of the class, because a stream may come from another realm or be the model's own implementation. */
function isStream(value: unknown): value is ReadableStream<unknown> {
  return typeof value === 'object' && value !== null && 'getReader' in value && typeof value.getReader === 'function';
}
