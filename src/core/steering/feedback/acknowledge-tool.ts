import type { JsonObject } from '../../base/json.ts';
import type { AcknowledgementResponse } from './advice-slices.ts';

export const ACKNOWLEDGEMENT_RESPONSES: readonly AcknowledgementResponse[] = ['accepted', 'rejected', 'noted'];

/** Maximum characters of a note. Longer notes are cut. */
export const MAX_NOTE_CHARS = 500;

/** A tool definition for model APIs. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
}

/** The tool with which an agent responds to advice. Pass its arguments to `acknowledge`. Adapters may offer it. */
export const acknowledgeToolDefinition: ToolDefinition = {
  name: 'acknowledge_advice',
  description:
    'Answer a piece of feedback or guidance you were given: say whether you follow it. Name it by adviceId where one was shown, else by the provider in its head line.',
  inputSchema: {
    type: 'object',
    properties: {
      adviceId: { type: 'string', description: 'Id of the advice, if one was shown.' },
      provider: { type: 'string', description: 'Name in the head line of the advice, such as Deadline.' },
      response: { type: 'string', enum: ACKNOWLEDGEMENT_RESPONSES },
      note: { type: 'string', description: 'Why, in one sentence.', maxLength: MAX_NOTE_CHARS },
    },
    required: ['response'],
    additionalProperties: false,
  },
};
