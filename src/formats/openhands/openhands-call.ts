import type { Json } from '../../base/json.ts';
import type { CallShape } from '../parts/call-ids.ts';
import { type JsonMembers, listOf, membersOf, numberOrUndefined } from '../parts/json-member.ts';
import { callArguments } from '../parts/source-call.ts';
import { asJson, sourceResult, textOrUndefined } from '../parts/source-content.ts';

/** Members of an action's arguments that are the framework's. They vary between equal calls. */
const BOOKKEEPING: readonly string[] = (
  'thought confirmation_state is_confirmed security_risk action_risk blocking hidden is_static keep_prompt ' +
  'kernel_init_code'
).split(' ');
/** Members of early events, which hold the arguments beside them. */
const EVENT_MEMBERS: readonly string[] = 'action id source message timestamp llm_metrics tool_call_metadata'.split(' ');

/**
 * The call of an older action: tool and arguments as the model wrote them, where the event carries the model's
 * answer; else the action's name and its arguments without the framework's own members and without nulls.
 */
export function streamCall(event: JsonMembers, sourceId: string): CallShape {
  const metadata = membersOf(event.tool_call_metadata);
  const [choice] = listOf(membersOf(metadata.model_response).choices);
  const written = listOf(membersOf(membersOf(choice).message).tool_calls)
    .map((call) => membersOf(call))
    .find((call) => call.id === metadata.tool_call_id);
  const name = textOrUndefined(membersOf(written?.function).name) ?? textOrUndefined(metadata.function_name);
  const args = callArguments(membersOf(written?.function).arguments);
  // Text that is no JSON object: the action's own members say more.
  if (written !== undefined && name !== undefined && typeof args === 'object') {
    return { sourceId, name, args: withoutRisk(args) };
  }
  const action = textOrUndefined(event.action) ?? 'unknown';
  // Without the model's arguments the function's name would not go with the action's: one editor does both.
  const bookkeeping = action === 'think' ? BOOKKEEPING.filter((key) => key !== 'thought') : BOOKKEEPING;
  return 'args' in event
    ? { sourceId, name: action, args: membersWithout(membersOf(event.args), bookkeeping) }
    : { sourceId, name: action, args: membersWithout(event, [...bookkeeping, ...EVENT_MEMBERS]) };
}

/** The call of an SDK action event: its `tool_name` and `action`, or what the model wrote where that is null. */
export function sdkCall(event: JsonMembers, sourceId: string): CallShape {
  const written = membersOf(event.tool_call);
  const name = textOrUndefined(event.tool_name) ?? textOrUndefined(written.name) ?? 'unknown';
  const action = membersOf(event.action);
  if (Object.keys(action).length > 0) {
    return { sourceId, name, args: membersWithout(action, ['kind']) };
  }
  const args = callArguments(written.arguments ?? membersOf(written.function).arguments);
  return { sourceId, name, args: withoutRisk(args) };
}

/** The flag of an older observation; undefined where it has none, then the text decides. */
export function streamErrorFlag(event: JsonMembers): boolean | undefined {
  if (event.observation === 'error' || event.observation === 'user_rejected') return true;
  const extras = membersOf(event.extras);
  const code = exitCode(membersOf(extras.metadata)) ?? exitCode(extras) ?? exitCode(event);
  if (code !== undefined) return code !== 0;
  if (typeof event.success === 'boolean') return !event.success;
  return typeof extras.error === 'boolean' ? extras.error : undefined;
}

/** What an SDK observation says: its text, and its flag (also a non-zero exit code and a time-out). */
export function sdkResult(event: JsonMembers): { readonly result: Json; readonly isError: boolean | undefined } {
  const observation = membersOf(event.observation);
  const content = observation.content ?? observation.output ?? observation.text ?? observation.message;
  const result = content === undefined ? asJson(event.observation) : sourceResult(content);
  const code = exitCode(observation) ?? exitCode(membersOf(observation.metadata));
  if (observation.is_error === true || observation.timeout === true) return { result, isError: true };
  if (typeof observation.error === 'string' && observation.error !== '') return { result, isError: true };
  if (code !== undefined) return { result, isError: code !== 0 };
  return { result, isError: typeof observation.is_error === 'boolean' ? observation.is_error : undefined };
}

function exitCode(value: JsonMembers): number | undefined {
  return numberOrUndefined(value.exit_code);
}

function withoutRisk(args: Json): Json {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args;
  // Not an array and not null, so its members are JSON members.
  return membersWithout(args as JsonMembers, ['security_risk', 'summary']);
}

function membersWithout(members: JsonMembers, left: readonly string[]): Json {
  const kept = Object.entries(members).filter(
    ([key, value]) => !left.includes(key) && value !== null && value !== undefined,
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, asJson(value)]));
}
