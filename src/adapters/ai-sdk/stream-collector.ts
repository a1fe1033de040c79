import { present } from '../../core/base/present.ts';
import { textField, type SdkFields } from './sdk-shapes.ts';

/** Types of stream parts that contain no content of the answer. */
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

/** Assembles a streamed answer in the form of `doGenerate`. */
export class StreamCollector {
  readonly #content: SdkFields[] = [];
  readonly #texts = new Map<string, { type: 'text' | 'reasoning'; text: string; providerMetadata?: unknown }>();
  #finish: SdkFields = {};
  #response: SdkFields = {};

  /**
   * Adds a part.
   *
   * @returns the answer text in the part
   */
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

  /** Returns the answer received up to now. */
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
