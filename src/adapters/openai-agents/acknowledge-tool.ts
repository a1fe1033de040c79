import { acknowledgeToolDefinition } from '../../steering/feedback/acknowledge-tool.ts';
import { answerAcknowledgement } from '../../host/answer-acknowledgement.ts';
import { decodedArgs } from '../../host/content-blocks.ts';
import type { Run } from '../../run/run.ts';

/** The acknowledge tool as an agent takes it: the output of the SDK's `tool()`. */
export interface AcknowledgeTool {
  type: 'function';
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: {
    type: 'object';
    properties: Record<string, object>;
    required: string[];
    additionalProperties: boolean;
  };
  strict: boolean;
  invoke: (context: unknown, input: string) => Promise<string>;
  needsApproval: () => Promise<boolean>;
  isEnabled: () => Promise<boolean>;
}

/** The tool with which an agent answers advice. @param run the run of the answer */
export function acknowledgeTool(run: () => Run): AcknowledgeTool {
  const { name, description, inputSchema } = acknowledgeToolDefinition;
  return {
    type: 'function',
    name,
    description,
    // The definition is an object schema; the SDK's type requires its members by name.
    parameters: inputSchema as unknown as AcknowledgeTool['parameters'],
    // Strict schemas require every property; here all but one are optional.
    strict: false,
    invoke: async (_context, input) => answerAcknowledgement(run(), decodedArgs(input)),
    needsApproval: async () => false,
    isEnabled: async () => true,
  };
}
