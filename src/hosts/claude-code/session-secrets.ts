/** Variables that let a program send messages to the session. */
const SESSION_SECRETS = /^CLAUDE_CODE_MESSAGING_/;

/** The environment without variables that let a program send messages to the session. */
export function withoutSessionSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SESSION_SECRETS.test(name)));
}
