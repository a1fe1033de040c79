/** A secret that opens nothing, and the text that it is found in. */
export interface FakeSecret {
  readonly kind: string;
  /** Must not be stored. */
  readonly secret: string;
  /** A text as a tool would show it, with the secret in it. */
  readonly text: string;
}

const HEX = '0123456789abcdef';
const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * One secret of each kind, made at run time from a fixed seed, so that no text of this project looks like one.
 */
export function fakeSecrets(): readonly FakeSecret[] {
  let state = 0x2545f491;
  const run = (alphabet: string, length: number): string => {
    let text = '';
    for (let at = 0; at < length; at += 1) {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      text += alphabet[(state >>> 8) % alphabet.length] ?? '';
    }
    return text;
  };
  const bare = (kind: string, ...parts: readonly string[]): FakeSecret => {
    const secret = parts.join('');
    return { kind, secret, text: `see ${secret} here` };
  };
  const inText = (kind: string, secret: string, before: string, after = ''): FakeSecret => ({
    kind,
    secret,
    text: before + secret + after,
  });
  const word = (): string => `pw${run(ALNUM, 14)}7`;
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const base64Url = (text: string): string => Buffer.from(text).toString('base64url');
  const pem = (label: string, ending = true): string => {
    const lines = Array.from({ length: 6 }, () => run(ALNUM, 64));
    const end = ending ? `\n-----END ${label}-----` : '';
    return `-----BEGIN ${label}-----\n${lines.join('\n')}\n${run(ALNUM, 21)}=${end}`;
  };
  return [
    bare('AWS access key', 'AK', 'IA', run(CAPITALS, 16)),
    bare('AWS temporary key', 'AS', 'IA', run(CAPITALS, 16)),
    inText('AWS secret key', run(ALNUM, 40), 'aws_secret_access_key = '),
    bare('Google API key', 'AI', 'za', run(ALNUM, 35)),
    bare('Google client secret', 'GOC', 'SPX-', run(ALNUM, 28)),
    bare('Google access token', 'ya', '29.', run(ALNUM, 60)),
    inText(
      'Google service account',
      pem('PRIVATE KEY')
        .split('\n')
        .join(String.raw`\n`),
      '{"private_key": "',
      '"}',
    ),
    inText('Azure storage key', `${run(ALNUM, 86)}==`, 'AccountName=store;AccountKey=', ';EndpointSuffix=x'),
    inText('Azure signature', `${run(ALNUM, 43)}%3D`, 'https://store.example/c?sv=2024&sig=', '&se=2027'),
    bare('Azure client secret', run(ALNUM, 3), '8', 'Q~', run(ALNUM, 34)),
    ...['p', 'o', 'u', 's', 'r'].map((letter) => bare(`GitHub gh${letter}`, `gh${letter}`, '_', run(ALNUM, 36))),
    bare('GitHub fine-grained', 'github', '_pat_', run(ALNUM, 22), '_', run(ALNUM, 59)),
    bare('GitLab', 'gl', 'pat-', run(ALNUM, 20)),
    bare('Slack bot', 'xo', 'xb-', run('0123456789', 12), '-', run(ALNUM, 24)),
    bare('Slack app', 'xa', 'pp-1-', run(CAPITALS, 11), '-', run(HEX, 64)),
    inText(
      'Slack hook',
      `T${run(CAPITALS, 8)}/B${run(CAPITALS, 8)}/${run(ALNUM, 24)}`,
      'https://hooks.slack.com/services/',
    ),
    bare('Stripe live', 'sk', '_live_', run(ALNUM, 24)),
    bare('Stripe restricted', 'rk', '_test_', run(ALNUM, 24)),
    bare('Stripe hook', 'wh', 'sec_', run(ALNUM, 32)),
    bare('OpenAI', 's', 'k-', run(ALNUM, 48)),
    bare('OpenAI project', 's', 'k-proj-', run(ALNUM, 80)),
    bare('Anthropic', 's', 'k-ant-api03-', run(ALNUM, 93), 'AA'),
    bare('Hugging Face', 'h', 'f_', run(ALNUM, 34)),
    bare('npm', 'np', 'm_', run(ALNUM, 36)),
    bare('PyPI', 'py', 'pi-', run(ALNUM, 120)),
    bare('DigitalOcean', 'do', 'p_v1_', run(HEX, 64)),
    bare('Shopify', 'sh', 'pat_', run(HEX, 32)),
    bare('SendGrid', 'S', 'G.', run(ALNUM, 22), '.', run(ALNUM, 43)),
    bare('Twilio key', 'S', 'K', run(HEX, 32)),
    inText('Twilio pair', run(HEX, 32), `AC${run(HEX, 32)}:`),
    bare('Mailgun', 'ke', 'y-', run(HEX, 32)),
    bare('Discord bot', 'M', run(ALNUM, 23), '.', run(ALNUM, 6), '.', run(ALNUM, 38)),
    bare('Telegram bot', run('123456789', 9), ':', 'A', run(ALNUM, 34)),
    inText('Datadog', run(HEX, 32), 'DD_API_KEY='),
    bare('New Relic', 'NR', 'AK-', run(CAPITALS, 27)),
    bare('New Relic licence', run(HEX, 36), 'NR', 'AL'),
    bare('Vault', 'hv', 's.', run(ALNUM, 90)),
    bare('Terraform', run(ALNUM, 14), '.atl', 'asv1.', run(ALNUM, 64)),
    bare('Doppler', 'dp', '.pt.', run(ALNUM, 43)),
    bare('Linear', 'lin', '_api_', run(ALNUM, 40)),
    bare('Notion', 'nt', 'n_', run(ALNUM, 46)),
    bare('Figma', 'fi', 'gd_', run(ALNUM, 40)),
    bare('Databricks', 'da', 'pi', run(HEX, 32)),
    bare('JWT', `${base64Url('{"alg":"HS256"}')}.${base64Url('{"sub":"1234567890"}')}.${run(ALNUM, 43)}`),
    bare('RSA key', pem(['RSA', 'PRIVATE', 'KEY'].join(' '))),
    bare('SSH key', pem(['OPENSSH', 'PRIVATE', 'KEY'].join(' '))),
    bare('cut key', pem(['EC', 'PRIVATE', 'KEY'].join(' '), false)),
    bare('PGP key', pem(['PGP', 'PRIVATE', 'KEY', 'BLOCK'].join(' '))),
    bare('age key', 'AGE-SECRET', '-KEY-1', run(CAPITALS, 58)),
    inText('PuTTY key', run(ALNUM, 64), 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n'),
    inText('bearer header', word(), 'Authorization: Bearer '),
    inText('basic header', base64(`user:${word()}`), 'Authorization: Basic '),
    inText('bearer alone', `${run(ALNUM, 30)}1`, 'sent bearer '),
    inText('URL', word(), 'postgres://app:', '@db.example/app'),
    inText('environment', word(), 'PATH=/bin\nDB_PASSWORD=', '\nLEVEL=info'),
    inText('JSON member', word(), '{"user":"a","password":"', '"}'),
    inText('JSON in JSON', word(), String.raw`{"body":"{\"apiK` + String.raw`ey\":\"`, String.raw`\"}"}`),
    inText('JSON twice in JSON', word(), String.raw`{\\\"client_sec` + String.raw`ret\\\":\\\"`, String.raw`\\\"}`),
    inText('YAML', word(), 'db:\n  user: app\n  password: ', '\n'),
    inText('option', word(), 'deploy --token ', ' --now'),
    inText('curl user', word(), 'curl -u bob:', ' https://api.example'),
    inText('cookie', word(), 'Cookie: theme=dark; sid='),
    inText('set-cookie', word(), 'Set-Cookie: sid=', '; Path=/; HttpOnly'),
    inText('query', word(), 'GET /x?access_token=', '&page=2'),
  ];
}
