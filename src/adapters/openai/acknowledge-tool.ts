import { acknowledgeToolDefinition } from '../../core/steering/feedback/acknowledge.ts';
import { answerAcknowledgement } from '../host/answer-acknowledgement.ts';
import type { Run } from '../../core/run/run.ts';

/** The acknowledge tool for `chat.completions.runTools`. */
export interface AcknowledgeTool {
  type: 'function';
  function: {
    name: string;
    description: string;
    parameters: object;
    parse: (text: string) => object;
    function: (args: object) => string;
  };
}

/** @param run returns the run that the answer belongs to */
export function acknowledgeTool(run: () => Run): AcknowledgeTool {
  const { name, description, inputSchema } = acknowledgeToolDefinition;
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: inputSchema,
      // The model's arguments are read field by field. A value that is not an object has no fields.
      parse: (text) => Object(JSON.parse(text)),
      function: (args) => answerAcknowledgement(run(), args),
    },
  };
}
