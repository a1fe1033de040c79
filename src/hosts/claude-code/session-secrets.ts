/** Variables that only the agent's own processes need: they let a program speak to the session. */
const SESSION_SECRETS = /^CLAUDE_CODE_MESSAGING_/;

/** The environment without what lets a program speak to the session. */
export function withoutSessionSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SESSION_SECRETS.test(name)));
}
