/**
 * The effect of a call.
 *
 * - `read`: looks, changes nothing
 * - `write`: changes files or another durable state
 * - `execute`: runs something of unknown effect (tests, builds, scripts)
 * - `poll`: asks whether something has finished
 * - `wait`: lets time pass
 * - `ui`: acts on a screen, whose state its answer may not show
 * - `note`: thinks, plans, comments; changes nothing outside the agent
 * - `unknown`: nothing is known; treated with reserve
 */
export type ToolKind = 'read' | 'write' | 'execute' | 'poll' | 'wait' | 'ui' | 'note' | 'unknown';
