import { TOKEN_PREFIXES } from './token-prefixes.ts';

/** Names of all built-in rules: what `off` may name and placeholders show. */
export const BUILT_IN_RULES: readonly string[] = [
  ...new Set([
    'private-key',
    'named-secret',
    'bearer-token',
    'basic-auth',
    'cookie',
    'url-credentials',
    'jwt',
    'aws-access-key',
    'google-api-key',
    'atlassian-token',
    'artifactory-key',
    'twilio-key',
    'databricks-token',
    'new-relic-key',
    'azure-client-secret',
    'terraform-token',
    'discord-token',
    'telegram-token',
    'slack-webhook',
    'discord-webhook',
    ...TOKEN_PREFIXES.map(({ rule }) => rule),
  ]),
];
