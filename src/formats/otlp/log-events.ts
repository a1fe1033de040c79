import { textOrUndefined } from '../../core/base/json-member.ts';
import type { Json, JsonObject } from '../../core/base/json.ts';

/** Identity of a log record. */
interface LogFacts {
  /** Name of the event, if the record has one. */
  readonly named: unknown;
  readonly body: Json;
  readonly attributes: JsonObject;
  readonly resource: JsonObject;
  readonly scope: string | undefined;
}

/** Agent programs whose log events are read, with the prefix of their events and the session attribute. */
const PROGRAMS = [
  { prefix: 'claude_code.', service: /claude-code|claude_code/, session: 'session.id' },
  { prefix: 'codex.', service: /codex/, session: 'conversation.id' },
] as const;

/** The session of a log record. */
interface LogSession {
  readonly event: string;
  readonly program: string;
  readonly id: string;
  /** Name of the attribute that contains `id`. */
  readonly attribute: string;
}

/** Returns the event and session of a log record from an agent program. Undefined for any other record. */
export function logSession(log: LogFacts): LogSession | undefined {
  const names = [log.named, log.body].filter((name) => typeof name === 'string');
  const service = `${textOrUndefined(log.resource['service.name']) ?? ''} ${log.scope ?? ''}`;
  for (const { prefix, service: serviceName, session } of PROGRAMS) {
    const fullName = names.find((name) => name.startsWith(prefix));
    // Claude Code's `event.name` lacks the prefix that the body of the record has.
    const event =
      fullName ?? (serviceName.test(service) && names[0] !== undefined ? `${prefix}${names[0]}` : undefined);
    if (event === undefined) continue;
    const id = textOrUndefined(log.attributes[session]) ?? textOrUndefined(log.resource[session]);
    if (id === undefined) return undefined;
    const kind = textOrUndefined(log.attributes['event.kind']);
    return { event: kind === undefined ? event : `${event} ${kind}`, program: prefix, id, attribute: session };
  }
  return undefined;
}
