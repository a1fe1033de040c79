import { acknowledgeToolDefinition } from '../../core/steering/feedback/acknowledge.ts';
import { answerAcknowledgement } from '../host/answer-acknowledgement.ts';
import { decodedArgs } from '../host/content-blocks.ts';
import type { Run } from '../../core/run/run.ts';

/** The acknowledge tool in the format that the SDK's `tool()` returns. */
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

/** @param run returns the run that the answer belongs to */
export function acknowledgeTool(run: () => Run): AcknowledgeTool {
  const { name, description, inputSchema } = acknowledgeToolDefinition;
  return {
    type: 'function',
    name,
    description,
    // The definition is an object schema. The SDK's type requires its fields by name.
    parameters: inputSchema as unknown as AcknowledgeTool['parameters'],
    // A strict schema requires every property, but only one property of this tool is required.
    strict: false,
    invoke: async (_context, input) => answerAcknowledgement(run(), decodedArgs(input)),
    needsApproval: async () => false,
    isEnabled: async () => true,
  };
}
