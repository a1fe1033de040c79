import { invalidArgument } from '../../core/base/error.ts';
import { isJsonObject, present } from '../../core/base/json.ts';
import { standsIn, takeAnswer, withUsage, type AskModel, type Attempt, type ModelWatch } from './attempt.ts';
import { readModelAnswer } from './read-answer.ts';
import { textField, type SdkFields } from './sdk-shapes.ts';

const PASSING: ReadonlySet<string> = new Set([
  'stream-start',
  'ping',
  'raw',
  'error',
  'text-end',
  'reasoning-end',
  'tool-input-start',
  'tool-input-delta',
  'tool-input-end',
]);

export class StreamCollector {
  readonly #content: SdkFields[] = [];
  readonly #texts = new Map<string, { type: 'text' | 'reasoning'; text: string; providerMetadata?: unknown }>();
  #finish: SdkFields = {};
  #response: SdkFields = {};

  /** @returns the answer text in the part */
  add(part: SdkFields): string {
    const type = textField(part, 'type');
    switch (type) {
      case 'text-start':
        this.#open('text', part);
        return '';
      case 'reasoning-start':
        this.#open('reasoning', part);
        return '';
      case 'text-delta':
      case 'reasoning-delta': {
        const kind = type === 'text-delta' ? 'text' : 'reasoning';
        const delta = textField(part, 'delta');
        const block = this.#texts.get(keyOf(kind, part)) ?? this.#open(kind, part);
        block.text += delta;
        return kind === 'text' ? delta : '';
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

  #open(type: 'text' | 'reasoning', part: SdkFields): { text: string } {
    const { providerMetadata } = part;
    const block = { type, text: '', ...present({ providerMetadata }) };
    this.#texts.set(keyOf(type, part), block);
    this.#content.push(block);
    return block;
  }
}

function keyOf(kind: 'text' | 'reasoning', part: SdkFields): string {
  return `${kind} ${textField(part, 'id')}`;
}

export interface StreamWatch extends ModelWatch {
  readonly ask: AskModel;
  readonly mustBuffer: boolean;
}

/** Returns the result of `doStream` with a watched stream. The result is unchanged if it has no stream. */
export function watchStream(result: unknown, attempt: Attempt, watch: StreamWatch): unknown {
  const source = streamOf(result);
  if (source === undefined || !isJsonObject(result)) {
    watch.loop.unrecognised('stream', typeof result);
    return result;
  }
  const watchedStream = new WatchedStream(source, attempt, watch);
  return { ...result, stream: watchedStream.readable };
}

function streamOf(result: unknown): ReadableStream<unknown> | undefined {
  const stream = isJsonObject(result) ? result['stream'] : undefined;
  return isStream(stream) ? stream : undefined;
}

/** Checks the methods instead of the class, because a stream may come from another realm or be the model's own implementation. */
function isStream(value: unknown): value is ReadableStream<unknown> {
  return typeof value === 'object' && value !== null && 'getReader' in value && typeof value.getReader === 'function';
}

type Controller = ReadableStreamDefaultController<unknown>;

/** The answer is handled before its last part passes, because the SDK runs the tools when it receives that part. */
class WatchedStream {
  readonly readable: ReadableStream<unknown>;
  readonly #watch: StreamWatch;
  #reader: ReadableStreamDefaultReader<unknown>;
  #attempt: Attempt;
  #collector = new StreamCollector();
  #buffer: unknown[] = [];
  /** Parts of the previous answer, which is used if the next attempt fails. */
  #replacementParts: readonly unknown[] = [];
  #mustBuffer: boolean;
  #isDone = false;
  /** The error that ends the stream after the buffered parts. An error raised immediately would discard unread parts. */
  #fault: { readonly error: unknown } | undefined;

  constructor(source: ReadableStream<unknown>, attempt: Attempt, watch: StreamWatch) {
    this.#watch = watch;
    this.#attempt = attempt;
    this.#mustBuffer = watch.mustBuffer;
    this.#reader = source.getReader();
    // The high-water mark is 0, so the model is read on demand, as without coxswain.
    this.readable = new ReadableStream(
      {
        pull: async (controller) => await this.#pullParts(controller),
        cancel: async (reason: unknown) => await this.#cancelStream(reason),
      },
      { highWaterMark: 0 },
    );
  }

  async #pullParts(controller: Controller): Promise<void> {
    if (this.#fault !== undefined) throw this.#fault.error;
    try {
      while (!(await this.#readPart(controller))) {
        // Parts are buffered, so nothing passes yet and reading continues.
      }
    } catch (error) {
      if (this.#isDone) throw error;
      this.#isDone = true;
      if (this.#letStandIn(error, controller)) return;
      if (this.#buffer.length === 0) throw error;
      this.#fault = { error };
      this.#releaseBuffer(controller);
    }
  }

  /** @returns true if a part was passed on */
  async #readPart(controller: Controller): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (done) return this.#endStream(controller);
    if (!isJsonObject(value)) return this.#passPart(value, controller);
    const { type } = value;
    if (type === 'finish' && !this.#isDone) return await this.#finishAnswer(value, controller);
    const delta = this.#collector.add(value);
    if (delta !== '') this.#watch.guard('a delta', () => this.#watch.loop.heardDelta(delta));
    if (type === 'error' && !this.#isDone) {
      this.#isDone = true;
      if (this.#letStandIn(value['error'], controller)) return true;
      this.#releaseBuffer(controller);
    }
    return this.#passPart(value, controller);
  }

  #passPart(part: unknown, controller: Controller): boolean {
    if (this.#mustBuffer) this.#buffer.push(part);
    else controller.enqueue(part);
    return !this.#mustBuffer;
  }

  #releaseBuffer(controller: Controller): void {
    this.#mustBuffer = false;
    for (const part of this.#buffer) controller.enqueue(part);
    this.#buffer = [];
  }

  async #finishAnswer(part: Readonly<Record<string, unknown>>, controller: Controller): Promise<boolean> {
    this.#collector.add(part);
    const retry = takeAnswer(this.#attempt, this.#collector.result(), this.#watch);
    const last = withUsage(part, this.#attempt);
    if (retry !== undefined && this.#mustBuffer && (await this.#askAgain(retry, [...this.#buffer, last]))) return false;
    this.#isDone = true;
    this.#releaseBuffer(controller);
    controller.enqueue(last);
    return true;
  }

  /** @returns false if the model returned no stream */
  async #askAgain(retry: Attempt, replacementParts: readonly unknown[]): Promise<boolean> {
    try {
      const result = await this.#watch.ask(retry.prepared.request);
      const source = streamOf(result);
      if (source === undefined) throw invalidArgument('the model returned no stream for the repeated request');
      this.#watch.guard('an answer that begins', () => this.#watch.loop.opened(retry.prepared));
      const previousReader = this.#reader;
      this.#reader = source.getReader();
      void closeReader(previousReader);
    } catch (error) {
      if (standsIn(retry, error, this.#watch)) return false;
      this.#isDone = true;
      throw error;
    }
    this.#attempt = retry;
    this.#replacementParts = replacementParts;
    this.#buffer = [];
    this.#collector = new StreamCollector();
    return true;
  }

  /** Called when the stream broke. Passes on the previous answer if there is one; otherwise reports the error. */
  #letStandIn(error: unknown, controller: Controller): boolean {
    if (this.#attempt.discarded === undefined) {
      const partialAnswer = readModelAnswer(this.#collector.result());
      const { loop, guard } = this.#watch;
      guard('a broken stream', () => loop.failed(this.#attempt.prepared, error, partialAnswer));
      return false;
    }
    if (!standsIn(this.#attempt, error, this.#watch)) return false;
    this.#buffer = [...this.#replacementParts];
    this.#releaseBuffer(controller);
    controller.close();
    void closeReader(this.#reader);
    return true;
  }

  #endStream(controller: Controller): boolean {
    if (!this.#isDone) {
      this.#isDone = true;
      if (this.#letStandIn(new Error('the stream ended before the answer was complete'), controller)) return true;
    }
    this.#releaseBuffer(controller);
    controller.close();
    return true;
  }

  async #cancelStream(reason: unknown): Promise<void> {
    if (!this.#isDone) {
      this.#isDone = true;
      const { loop, guard } = this.#watch;
      const partialAnswer = readModelAnswer(this.#collector.result());
      const error = new DOMException('the reader cancelled the stream', 'AbortError');
      guard('a cancelled stream', () => loop.failed(this.#attempt.prepared, error, partialAnswer));
    }
    await this.#reader.cancel(reason);
  }
}

/** Cancels a stream that has no reader. A failure means that the stream has already ended. */
async function closeReader(reader: ReadableStreamDefaultReader<unknown>): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // Nothing to cancel.
  }
}
