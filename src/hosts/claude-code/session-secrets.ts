/** Environment variables with which a program can send messages to the session. */
const SESSION_SECRETS = /^CLAUDE_CODE_MESSAGING_/;

/** Returns the environment without the variables that let a program send messages to the session. */
export function withoutSessionSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SESSION_SECRETS.test(name)));
}
