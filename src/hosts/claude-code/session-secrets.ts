/** Environment variables with which a program can send messages to the session. */
const SESSION_SECRETS = /^CLAUDE_CODE_MESSAGING_/;

export function withoutSessionSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !SESSION_SECRETS.test(name)));
}
