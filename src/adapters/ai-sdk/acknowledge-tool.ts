import {
  acknowledgeToolDefinition,
  readAdviceAnswer,
  type AdviceAnswer,
} from '../../core/steering/feedback/acknowledge.ts';
import { answerAcknowledgement } from '../host/answer-acknowledgement.ts';
import type { Run } from '../../core/run/run.ts';

/** A schema in the Standard Schema format, which the SDK accepts as `inputSchema`. */
export interface AnswerSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'coxswain';
    readonly validate: (
      value: unknown,
    ) => { readonly value: AdviceAnswer } | { readonly issues: readonly { readonly message: string }[] };
    readonly jsonSchema: {
      readonly input: () => Record<string, unknown>;
      readonly output: () => Record<string, unknown>;
    };
    readonly types?: { readonly input: unknown; readonly output: AdviceAnswer };
  };
}

/** The tool with which an agent answers advice. Pass it in the SDK's `tools`. */
export interface AcknowledgeTool {
  readonly description: string;
  readonly inputSchema: AnswerSchema;
  readonly execute: (answer: AdviceAnswer) => string;
}

/** The result tells the model that the answer was recorded, or why it was not. */
export function acknowledgeTool(run: () => Run): AcknowledgeTool {
  const { description, inputSchema } = acknowledgeToolDefinition;
  const jsonSchema = (): Record<string, unknown> => structuredClone({ ...inputSchema });
  return {
    description,
    inputSchema: {
      '~standard': {
        version: 1,
        vendor: 'coxswain',
        validate: (value) => {
          const answer = readAdviceAnswer(value);
          return typeof answer === 'string' ? { issues: [{ message: answer }] } : { value: answer };
        },
        jsonSchema: { input: jsonSchema, output: jsonSchema },
      },
    },
    execute: (answer) => answerAcknowledgement(run(), answer),
  };
}
