import { unseen } from '../../base/printable.ts';
import { present, isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Session } from '../../session/session.ts';
import { Acknowledgement, AcknowledgementEvent, type AcknowledgementResponse, CadenceSlice } from './advice-slices.ts';

export const ACKNOWLEDGEMENT_RESPONSES: readonly AcknowledgementResponse[] = ['accepted', 'rejected', 'noted'];

export const MAX_NOTE_CHARS = 500;

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
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

export interface AdviceAnswer {
  readonly adviceId?: string;
  /** Selects the latest advice of this provider or observer. Used if `adviceId` is absent. */
  readonly provider?: string;
  readonly response: AcknowledgementResponse;
  readonly note?: string;
}

export interface AcknowledgeOptions {
  /** Unix milliseconds; default: the session's time. */
  readonly nowMs?: number;
  /** True if advice with this id or provider was given. Default: any id, and the providers in `Feedback` and `Assessment`. */
  readonly isKnown?: (reference: { readonly adviceId?: string; readonly provider?: string }) => boolean;
}

/** The result. A refusal contains a reason that may be shown to the agent. */
export type AcknowledgeOutcome =
  | { readonly status: 'recorded'; readonly acknowledgement: Acknowledgement }
  | { readonly status: 'refused'; readonly reason: string };

/** Records an agent's response to advice. Invalid input of the model is refused. Cost: O(providers and observers). */
export function acknowledge(
  session: Session,
  answer: AdviceAnswer,
  options: AcknowledgeOptions = {},
): AcknowledgeOutcome {
  const parsed = readAdviceAnswer(answer);
  if (typeof parsed === 'string') return refuse(parsed);
  const target = findTarget(session, parsed, options);
  if (typeof target === 'string') return refuse(target);
  const { response, note } = parsed;
  const view = session.slice(Acknowledgement);
  const dispatchOptions = options.nowMs === undefined ? {} : { atMs: options.nowMs };
  session.dispatch(AcknowledgementEvent({ ...target, response, ...present({ note }) }, dispatchOptions));
  const acknowledgement = view.latest();
  return acknowledgement === undefined
    ? refuse('The answer could not be recorded.')
    : { status: 'recorded', acknowledgement };
}

/** Reads a model's response. For invalid input, returns the reason of the refusal as text for the model. Never throws. */
export function readAdviceAnswer(answer: unknown): AdviceAnswer | string {
  try {
    return parseAnswer(answer);
  } catch {
    // The object is a proxy of the host, or a getter throws.
    return 'The answer cannot be read.';
  }
}

function parseAnswer(answer: unknown): AdviceAnswer | string {
  if (!isJsonObject(answer)) return 'The answer must be an object.';
  const response = ACKNOWLEDGEMENT_RESPONSES.find((option) => option === answer['response']);
  if (response === undefined) return `response must be one of ${ACKNOWLEDGEMENT_RESPONSES.join(', ')}.`;
  const adviceId = readLine(answer['adviceId'], MAX_REFERENCE_CHARS);
  const provider = readLine(answer['provider'], MAX_REFERENCE_CHARS);
  const note = readLine(answer['note'], MAX_NOTE_CHARS);
  return { response, ...present({ adviceId, provider, note }) };
}

const UNSEEN = unseen();

function readLine(value: unknown, maxChars: number): string | undefined {
  const line =
    typeof value === 'string' ? value.slice(0, maxChars).replaceAll(/\s+/g, ' ').replaceAll(UNSEEN, '').trim() : '';
  return line === '' ? undefined : line;
}

/** Longer than any valid name or id. */
const MAX_REFERENCE_CHARS = 100;

type Target = Pick<Acknowledgement, 'adviceId' | 'provider' | 'callIndex' | 'promptName'>;

function findTarget(session: Session, answer: AdviceAnswer, { isKnown }: AcknowledgeOptions): Target | string {
  const { adviceId, provider } = answer;
  if (adviceId !== undefined) {
    return isKnown?.({ adviceId }) === false ? 'No advice of that id was given.' : { adviceId };
  }
  if (provider === undefined) return 'Name the advice by adviceId or by provider.';
  const latest = session
    .slice(CadenceSlice)
    .all()
    .findLast((entry) => entry.name === provider);
  if (!(isKnown?.({ provider }) ?? latest !== undefined)) return 'No provider with that name has given advice.';
  const { callIndex, promptName } = latest?.said ?? {};
  return { provider, ...present({ callIndex, promptName }) };
}

function refuse(reason: string): AcknowledgeOutcome {
  return { status: 'refused', reason };
}
