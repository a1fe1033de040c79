import { acknowledgeToolDefinition } from '../../steering/feedback/acknowledge-tool.ts';
import { answerAcknowledgement } from '../../host/answer-acknowledgement.ts';
import type { Run } from '../../run/run.ts';

/** The acknowledge tool as `chat.completions.runTools` takes it. */
export interface AcknowledgeTool {
  type: 'function';
  function: {
    name: string;
    description: string;
    /** JSON Schema of the arguments. */
    parameters: object;
    parse: (text: string) => object;
    function: (args: object) => string;
  };
}

/** The tool with which an agent answers advice. @param run the run that the answer belongs to */
export function acknowledgeTool(run: () => Run): AcknowledgeTool {
  const { name, description, inputSchema } = acknowledgeToolDefinition;
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: inputSchema,
      // What the model sends is read member by member; of what is no object, no member is there.
      parse: (text) => Object(JSON.parse(text)),
      function: (args) => answerAcknowledgement(run(), args),
    },
  };
}
