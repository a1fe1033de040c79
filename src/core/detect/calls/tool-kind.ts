/** All kinds, in the order in which the viewer's cache stores them. */
export const TOOL_KINDS = ['unknown', 'read', 'write', 'execute', 'poll', 'wait', 'ui', 'note'] as const;

/**
 * The effect of a call.
 *
 * - `read`: reads and changes nothing
 * - `write`: changes files or other durable state
 * - `execute`: runs something with an unknown effect (tests, builds, scripts)
 * - `poll`: asks whether something has finished
 * - `wait`: pauses
 * - `ui`: acts on a user interface; the result may not show the new state
 * - `note`: a thought, plan or comment; changes nothing outside the agent
 * - `unknown`: the effect is unknown; detectors handle such calls cautiously
 */
export type ToolKind = (typeof TOOL_KINDS)[number];
