import { ALNUM, BASE64_EXTRA, BLANK, isOf, runEnd } from './char-class.ts';

/** A form of secret. The scanner tries the expression only at one of the keywords. */
export interface SecretRule {
  /** The id in placeholders and in `off`. Several rules may have the same id. */
  readonly id: string;
  /** Literal and case-sensitive. */
  readonly keywords: readonly string[];
  /**
   * Must match right after the keyword. A group `before`, in a look-behind, is prepended; a group `secret`, at the end,
   * is the secret alone. Quantifiers that may fail late are bounded, so that the time is linear.
   */
  readonly expression: string;
  readonly atWord: boolean;
  /** Final check of a match. */
  readonly check?: (secret: string) => boolean;
  /** The end of a secret whose expression only matches the opening; undefined if it is not a secret. */
  readonly endOf?: (text: string, from: number) => number | undefined;
  /** The text after the first keyword, or all of it with `@` for the keyword, so that no file here looks like a secret. */
  readonly matches: readonly string[];
  readonly misses: readonly string[];
}

/** Short prefixes that, unlike others of up to four characters, do not end longer words. */
const UNAMBIGUOUS = new Set(['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_']);

type RuleRow = readonly [id: string, keywords: string, expression: string, match: string, miss: string];

function ruleFromRow(...[id, keywords, expression, match, miss]: RuleRow): SecretRule {
  const words = keywords.split(' ');
  const atWord = words.some((word) => word.length < 5 && !UNAMBIGUOUS.has(word));
  return { id, keywords: words, expression, atWord, matches: [match], misses: [miss] };
}

/** `cat -n`, `nl`, `grep -n`, a reading tool, the head of a log line, a bullet, a quotation mark, a diff sign, a comment. */
const LINE_HEAD = new RegExp(
  [
    String.raw`[ \t]{0,40}`,
    // file:12: or 12: or 12→ or 12 |
    String.raw`(?:(?:[\w./@~-]{1,200}[:-])?\d{1,7}(?::\d{1,7})?(?:[:\-|\u2192\t)]|[ \t]{1,8}\|?)[ \t]{0,8})?`,
    // Time, level and source of a log line.
    String.raw`(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[\d:.,]{0,12}(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]{1,8})?`,
    String.raw`(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,64} [\w./-]{1,64}(?:\[\d{1,8}\])?:[ \t]{1,8})?`,
    String.raw`(?:\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|trace|debug|info|warn|error)\]?:?[ \t]{1,8}(?:\[[\w. :/-]{1,64}\]:?[ \t]{1,8})?)?`,
    String.raw`(?:[\w.-]{1,64}[ \t]{1,8}\|[ \t]{1,8})?`,
    String.raw`(?:(?:[-*+\u2022>#]|\/\/|\d{1,4}[.)])[ \t]{1,8}|[-+](?=[A-Za-z]))?`,
  ].join(''),
  'y',
);

/** The start of a line without the prefix of a tool. Cost: bounded. */
export function skipLineHead(text: string, start: number): number {
  LINE_HEAD.lastIndex = start;
  return LINE_HEAD.test(text) ? LINE_HEAD.lastIndex : start;
}

/** Shared classes; `DIGIT` requires a digit soon, for prefixes that also begin ordinary words. */
const WORD = '[A-Za-z0-9]';
const NAME = String.raw`[\w-]`;
const DOTTED = String.raw`[\w.-]`;
const BASE64 = '[A-Za-z0-9+/]';
const HEX = '[0-9a-fA-F]';
const UUID = '[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}';
const DIGIT = String.raw`(?=[\w-]{0,63}\d)`;
/** Requires a digit and a capital, for short prefixes of random letters. */
const MIXED = String.raw`(?=[\w-]{0,63}\d)(?=[\w-]{0,63}[A-Z])`;
const END = '(?![A-Za-z0-9_])';

// prettier-ignore
const TOKEN_RULES: readonly SecretRule[] = [
  ruleFromRow('1password-key', 'A3-', `[A-Z0-9]{6}-[A-Z0-9]{5,6}-?[A-Z0-9]{5,6}(?:-[A-Z0-9]{5}){2,3}`, '<A6>-<A6>-<A5>-<A5>-<A5>-<A5>', '<A6>-<A4>'),
  ruleFromRow('1password-key', 'ops_eyJ', `${BASE64}{100,}={0,3}`, '<w250>', '<w40>'),
  ruleFromRow('adobe-secret', 'p8e-', `[a-z0-9A-Z]{32}${END}`, '<a32>', '<a20>'),
  ruleFromRow('age-key', 'AGE-SECRET-KEY-1', '[A-Z0-9]{40,}', '<A58>', '<A9>'),
  ruleFromRow('airtable-token', '.', `(?<=\\b(?<before>pat${WORD}{14})\\.)[0-9a-f]{64}${END}`, 'pat<w14>@<h64>', 'pat<w13>@<h64>'),
  ruleFromRow('alibaba-key', 'LTAI', `${WORD}{12,24}${END}`, '<w20>', '<w8>'),
  ruleFromRow('anthropic-key', 'sk-ant-', `${NAME}{16,}`, 'api03-<w93>', 'key'),
  ruleFromRow('artifactory-key', 'AKCp', `${WORD}{64,}`, '<w69>', '<w20>'),
  ruleFromRow('artifactory-key', 'cmVmdGtuOj', `${WORD}{40,}`, '<w54>', '<w12>'),
  ruleFromRow('atlassian-token', 'ATATT ATCTT ATBB', `(?=[\\w=-]{0,63}\\d)[\\w+/=-]{20,}`, '3xFf<w180>', 'ENTION'),
  ruleFromRow('authress-key', '.acc_ .acc-', `(?<=\\b(?<before>(?:sc|ext|scauth|authress)_[a-z0-9]{5,30}\\.[a-z0-9]{4,6})\\.acc[_-])[a-z0-9-]{10,32}\\.[\\w+/=-]{30,}`, 'sc_<a9>.<a5>@<a12>.<w60>', 'a.b@<w20>'),
  ruleFromRow('aws-access-key', 'AKIA ASIA AGPA AIDA AROA ANPA ANVA ABIA ACCA', `[A-Z0-9]{16}${END}`, '<A16>', '<A12>'),
  ruleFromRow('aws-bedrock-key', 'ABSK', `${BASE64}{100,}={0,2}`, '<w110>', '<w20>'),
  ruleFromRow('aws-bedrock-key', 'bedrock-api-key-', `${BASE64}{30,}={0,2}`, '<w80>', 'name'),
  ruleFromRow('aws-mws-key', 'amzn.mws.', UUID, '<uuid>', 'key'),
  ruleFromRow('aws-session-token', 'IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz', `${BASE64}{60,}={0,2}`, '<w200>', '<w20>'),
  ruleFromRow('azure-client-secret', 'Q~', `(?<=(?<![\\w~.])(?<before>[\\w~.]{3}\\d)Q~)[\\w~.-]{31,34}`, '<w3>8@<w34>', '<w3>x@<w34>'),
  ruleFromRow('azure-devops-token', 'AZDO', `(?<=(?<![A-Za-z0-9])(?<before>${WORD}{76})AZDO)${WORD}{4}${END}`, '<w76>@<w4>', '<w20>@<w4>'),
  ruleFromRow('azure-key', 'AzFu AzSe AzCa AzIo ACDb AEhS ASbT AStA', `(?<=(?<before>[A-Za-z0-9+/_-]{36,80})[A-Za-z]{4})[\\w+/-]{6,12}={1,2}`, '<w44>@<w8>==', '<w9>@<w8>'),
  ruleFromRow('brevo-key', 'xkeysib- xsmtpsib-', `${HEX}{40,}-${WORD}{12,}`, '<h64>-<w16>', '<h12>'),
  ruleFromRow('braintree-token', 'access_token$production$ access_token$sandbox$', `[0-9a-z]{16}\\$[0-9a-f]{32}`, '<a16>$<h32>', '<a16>'),
  ruleFromRow('browserbase-key', 'bb_live_', `${MIXED}${NAME}{24,}`, '<w27>', 'out_of_the_basic_block_info'),
  ruleFromRow('buildkite-token', 'bkua_ bkaj_ bkct_', `${WORD}{38,}`, '<a40>', '<a12>'),
  ruleFromRow('cerebras-key', 'csk-', `${DIGIT}[a-z0-9]{40,}`, '<a48>', 'name'),
  ruleFromRow('circleci-token', 'CCIPAT_ CCIPRJ_', `${NAME}{40,}`, '<w22>_<h40>', '<w12>'),
  ruleFromRow('clickhouse-key', '4b1d', `${WORD}{38}${END}`, '<w38>', '<h12>'),
  ruleFromRow('clojars-token', 'CLOJARS_', '[a-z0-9]{50,}', '<a60>', 'TOKEN'),
  ruleFromRow('cloudflare-key', 'v1.0-', `[0-9a-f]{24}-[0-9a-f]{146}`, '<h24>-<h146>', 'beta'),
  ruleFromRow('cloudflare-key', 'cfut_ cfat_ cfk_', `${WORD}{40,}`, '<w48>', 'name'),
  ruleFromRow('contentful-token', 'CFPAT-', `${NAME}{40,}`, '<w43>', '<w9>'),
  ruleFromRow('cursor-key', 'crsr_ key_', `[0-9a-f]{60,}${END}`, '<h64>', '<h32>'),
  ruleFromRow('databricks-token', 'dapi', `[0-9a-f]{32}(?:-\\d)?${END}`, '<h32>', '<h20>'),
  ruleFromRow('daytona-key', 'dtn_', `[0-9a-f]{60,}${END}`, '<h64>', '<h9>'),
  ruleFromRow('defined-networking-token', 'dnkey-', `${NAME}{26}-${NAME}{52}`, '<a26>-<a52>', '<a12>'),
  ruleFromRow('deno-token', 'ddp_ ddo_', `${WORD}{34,}`, '<w36>', '<w12>'),
  ruleFromRow('digitalocean-token', 'dop_v1_ doo_v1_ dor_v1_', `${HEX}{60,}`, '<h64>', '<h9>'),
  ruleFromRow('discord-token', '.', `(?<=(?<![\\w-])(?<before>[MNO]${NAME}{22,27})\\.)${NAME}{6}\\.${NAME}{27,}`, 'M<w23>@<w6>.<w38>', 'M<w23>@<w7>.<w38>'),
  ruleFromRow('discord-webhook', '.com/api/webhooks/', `\\d{5,25}/(?<secret>${NAME}{20,})`, '<d18>/<w68>', '<d18>/messages'),
  ruleFromRow('docker-token', 'dckr_pat_ dckr_oat_', `${NAME}{20,}`, '<w27>', '<w9>'),
  ruleFromRow('doppler-token', 'dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.', `${DOTTED}{30,}`, '<w43>', '<w9>'),
  ruleFromRow('dropbox-token', 'sl.', `${DIGIT}${NAME}{120,}`, '<w136>', '<w60>'),
  ruleFromRow('duffel-token', 'duffel_test_ duffel_live_', `[\\w=-]{40,}`, '<w43>', '<w9>'),
  ruleFromRow('dynatrace-token', 'dt0c01. dt0s01. dt0s02. dt0s16.', `[A-Z0-9a-z]{8,24}\\.[A-Z0-9a-z]{60,}`, '<A24>.<A64>', '<A24>'),
  ruleFromRow('e2b-key', 'e2b_', `${HEX}{38,}`, '<h40>', '<h9>'),
  ruleFromRow('easypost-key', 'EZAK EZTK', `${WORD}{50,}`, '<w54>', '<w20>'),
  ruleFromRow('facebook-token', 'EAAA EAAB EAAC EAAD EAAE EAAG EAAI EAAM EAAP', `${DIGIT}${NAME}{58,}`, '<w120>', '<w20>'),
  ruleFromRow('figma-token', 'figd_ figu_ figo_ figdr_', `${NAME}{30,}`, '<w40>', '<w9>'),
  ruleFromRow('firecrawl-key', 'fc-', `[0-9a-f]{32}${END}`, '<h32>', '<h20>'),
  ruleFromRow('fireworks-key', 'fw_', `${MIXED}${WORD}{22,24}${END}`, '<w24>', '<w9>'),
  ruleFromRow('flutterwave-key', 'FLWSECK- FLWSECK_TEST- FLWPUBK_TEST-', `${WORD}{12,}(?:-X)?`, '<h32>-X', '<h4>'),
  ruleFromRow('fly-token', 'fo1_', `${NAME}{43}`, '<w43>', '<w9>'),
  ruleFromRow('fly-token', 'fm1r_ fm1a_ fm2_', `[\\w+/-]{90,}={0,3}`, '<w120>', '<w20>'),
  ruleFromRow('frameio-token', 'fio-u-', `[\\w=-]{60,}`, '<w64>', '<w9>'),
  ruleFromRow('github-token', 'ghp_ gho_ ghu_ ghs_ ghr_ github_pat_', `${NAME}{30,}(?:\\.eyJ${NAME}{4,}\\.${NAME}*)?`, '<w36>', '<w9>'),
  ruleFromRow('gitlab-token', 'glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct- glrtr- glwt-', `${DOTTED}{20,}`, '<w20>', '<w9>'),
  ruleFromRow('gitlab-token', 'GR1348941', `${NAME}{20,}`, '<w20>', '<w9>'),
  ruleFromRow('google-api-key', 'AIza', `${NAME}{35}${END}`, '<w35>', '<w20>'),
  ruleFromRow('google-api-key', 'AQ.Ab8RN6', `${NAME}{30,}`, '<w44>', '<w9>'),
  ruleFromRow('google-oauth', '1//0', `[a-z]${NAME}{40,}`, 'g<w97>', 'g<w9>'),
  ruleFromRow('google-oauth', 'GOCSPX- ya29.', `${NAME}{20,}`, '<w28>', '<w9>'),
  ruleFromRow('grafana-token', 'glsa_', `\\w{30,}`, '<w32>_<h8>', '<w9>'),
  ruleFromRow('grafana-token', 'glc_ eyJrIjoi', `[A-Za-z0-9+/=]{30,}`, '<w60>', '<w9>'),
  ruleFromRow('groq-key', 'gsk_', `${WORD}{40,}`, '<w52>', '<w9>'),
  ruleFromRow('harness-token', 'pat. sat.', `${NAME}{22}\\.${WORD}{24}\\.${WORD}{20}`, '<w22>.<w24>.<w20>', '<w22>.<w4>'),
  ruleFromRow('heroku-key', 'HRKU-', `${NAME}{30,}`, 'AA<w58>', '<w9>'),
  ruleFromRow('honeycomb-key', 'hcaik_ hcbik_ hcamk_', `${WORD}{30,}`, '<a58>', '<a9>'),
  ruleFromRow('hubspot-token', 'pat-na1- pat-na2- pat-eu1-', UUID, '<uuid>', '<h8>'),
  ruleFromRow('hugging-face-token', 'hf_', `(?=${WORD}{0,40}[A-Z\\d])${WORD}{30,}`, 'AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh', '<w20>'),
  ruleFromRow('hugging-face-token', 'api_org_', `${WORD}{30,}`, '<w34>', '<w20>'),
  ruleFromRow('infracost-key', 'ico-', `${DIGIT}${WORD}{32}${END}`, '<w32>', '<w20>'),
  ruleFromRow('intra42-secret', 's-s4t2ud- s-s4t2af-', `${HEX}{60,}`, '<h64>', '<h9>'),
  ruleFromRow('jina-key', 'jina_', `${DIGIT}${NAME}{50,}`, '<h32><w28>', '<w9>'),
  ruleFromRow('langfuse-key', 'sk-lf-', UUID, '<uuid>', '<h8>'),
  ruleFromRow('langsmith-key', 'lsv2_pt_ lsv2_sk_', `[0-9a-f]{32}_[0-9a-f]{10}`, '<h32>_<h10>', '<h32>'),
  ruleFromRow('launchdarkly-key', 'sdk- mob-', `${UUID}${END}`, '<uuid>', '<h8>'),
  ruleFromRow('linear-key', 'lin_api_ lin_oauth_', `${WORD}{30,}`, '<w40>', '<w9>'),
  ruleFromRow('llamacloud-key', 'llx-', `${DIGIT}${NAME}{40,}`, '<w48>', '<w9>'),
  ruleFromRow('lob-key', 'live_pub_ test_pub_', `${HEX}{31}`, '<h31>', '<h9>'),
  ruleFromRow('mailchimp-key', '-us', `(?<=(?<![0-9a-zA-Z])(?<before>[0-9a-f]{32})-us)\\d{1,2}${END}`, '<h32>@12', '<h12>@12'),
  ruleFromRow('mailersend-key', 'mlsn.', `[0-9a-f]{60,}`, '<h64>', '<h9>'),
  ruleFromRow('mailgun-key', 'key-', `${HEX}{32}${END}`, '<h32>', '<h9>'),
  ruleFromRow('mapbox-token', 'sk.eyJ pk.eyJ tk.eyJ', `${NAME}{40,}\\.${NAME}{20,}`, '<w60>.<w22>', '<w9>'),
  ruleFromRow('maxmind-key', '_mmk', `(?<=(?<![A-Za-z0-9])(?<before>${WORD}{6}_${WORD}{29})_mmk)${END}`, '<w6>_<w29>@', '<w6>@'),
  ruleFromRow('modal-token', 'ak- as-', `${MIXED}${WORD}{22}${END}`, '<w22>', 'short'),
  ruleFromRow('neon-key', 'napi_', `${DIGIT}[a-z0-9]{60,}`, '<a64>', '<a20>'),
  ruleFromRow('netlify-token', 'nfp_', `${WORD}{36,}`, '<w40>', '<w9>'),
  ruleFromRow('new-relic-key', 'NRAK- NRIQ- NRRA- NRII- NRJS- NRBR- NRSP-', `${NAME}{19,}`, '<A27>', '<A9>'),
  ruleFromRow('new-relic-key', 'NRAL', `(?<=(?<![0-9a-zA-Z])(?<before>${HEX}{36})NRAL)${END}`, '<h36>@', '<h20>@'),
  ruleFromRow('notion-token', 'secret_ ntn_', `${WORD}{40,}`, '<w46>', '<w20>'),
  ruleFromRow('npm-token', 'npm_', `${WORD}{30,}`, '<w36>', '<w9>'),
  ruleFromRow('nuget-key', 'oy2', `[a-z0-9]{43}${END}`, '<a43>', '<a20>'),
  ruleFromRow('nvidia-key', 'nvapi-', `${NAME}{50,}`, '<w64>', '<w9>'),
  ruleFromRow('octopus-key', 'API-', `[A-Z0-9]{26}${END}`, '<A26>', '<A9>'),
  ruleFromRow('openai-key', 'sk-proj- sk-svcacct- sk-admin- sk- sess-', `${DIGIT}${NAME}{20,}`, '<w48>', 'learn-something-with-many-words'),
  ruleFromRow('elevenlabs-key', 'sk_', `(?:[0-9a-f]{48}|${DIGIT}${WORD}{80,})${END}`, '<h48>', '<h20>'),
  ruleFromRow('openrouter-key', 'sk-or-', `${NAME}{20,}`, 'v1-<h64>', '<h9>'),
  ruleFromRow('openshift-token', 'sha256~', `${NAME}{40,}`, '<w43>', '<w9>'),
  ruleFromRow('paddle-key', 'pdl_live_apikey_ pdl_sdbx_apikey_', `\\w{40,}`, '<a26>_<w22>_<w3>', '<w9>'),
  ruleFromRow('perplexity-key', 'pplx-', `${WORD}{40,}`, '<w48>', '<w9>'),
  ruleFromRow('pinecone-key', 'pcsk_', `\\w{40,}`, '<w69>', '<w9>'),
  ruleFromRow('plaid-token', 'access-sandbox- access-development- access-production-', UUID, '<uuid>', '<h8>'),
  ruleFromRow('planetscale-token', 'pscale_tkn_ pscale_pw_ pscale_oauth_', `[\\w.=-]{30,}`, '<w43>', '<w9>'),
  ruleFromRow('posthog-key', 'phx_', `${WORD}{40,}`, '<w43>', '<w9>'),
  ruleFromRow('postman-key', 'PMAK-', `${NAME}{40,}`, '<h24>-<h34>', '<h9>'),
  ruleFromRow('prefect-key', 'pnu_', `[a-z0-9]{36}${END}`, '<a36>', '<a9>'),
  ruleFromRow('pubnub-key', 'sec-c-', `[0-9A-Za-z-]{36,}`, '<w48>', '<w9>'),
  ruleFromRow('pulumi-token', 'pul-', `${HEX}{40,}`, '<h40>', '<h9>'),
  ruleFromRow('pypi-token', 'pypi-', `${NAME}{40,}`, '<w120>', '<w9>'),
  ruleFromRow('razorpay-key', 'rzp_live_ rzp_test_', `${WORD}{14,}`, '<w14>', '<w4>'),
  ruleFromRow('readme-key', 'rdme_', '[a-z0-9]{60,}', '<a70>', '<a9>'),
  ruleFromRow('replicate-token', 'r8_', `${WORD}{36,}`, '<w37>', '<w9>'),
  ruleFromRow('resend-key', 're_', `${WORD}{8}_${WORD}{20,}${END}`, '<w8>_<w24>', '<w8>_<w4>'),
  ruleFromRow('rubygems-key', 'rubygems_', `${HEX}{40,}`, '<h48>', '<h9>'),
  ruleFromRow('scalingo-token', 'tk-us-', `${NAME}{48}`, '<w48>', '<w9>'),
  ruleFromRow('sendgrid-key', 'SG.', `${NAME}{16,}\\.${NAME}{30,}`, '<w22>.<w43>', '<w22>'),
  ruleFromRow('sentry-token', 'sntrys_ sntryu_', `[\\w+/=-]{40,}`, '<w80>', '<w9>'),
  ruleFromRow('settlemint-token', 'sm_aat_ sm_pat_ sm_sat_', `${WORD}{16}${END}`, '<w16>', '<w9>'),
  ruleFromRow('shippo-token', 'shippo_live_ shippo_test_', `${HEX}{40}`, '<h40>', '<h9>'),
  ruleFromRow('shopify-token', 'shpat_ shpca_ shppa_ shpss_', `${HEX}{30,}`, '<h32>', '<h9>'),
  ruleFromRow('slack-token', 'xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxo- xoxe- xoxe.xox xapp- xwfp-', `[\\w.+/=%-]{10,}`, '<d12>-<w24>', '<w4>'),
  ruleFromRow('slack-webhook', 'hooks.slack.com/', `[a-z]{4,20}/(?<secret>[\\w+/=-]{20,})`, 'services/<A9>/<A9>/<w24>', 'services/<A9>'),
  ruleFromRow('sonar-token', 'squ_ sqp_ sqa_', `[\\w=-]{40}${END}`, '<h40>', '<h9>'),
  ruleFromRow('sourcegraph-token', 'sgp_ sgd_', `(?:(?:${HEX}{16}|local)_)?${HEX}{40,}`, '<h16>_<h40>', '<h9>'),
  ruleFromRow('square-token', 'sq0csp- sq0atp-', `${NAME}{20,}`, '<w43>', '<w9>'),
  ruleFromRow('stripe-key', 'sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_', `[\\w+/=]{16,}`, '<w24>', '<w9>'),
  ruleFromRow('stytch-secret', 'secret-live- secret-test-', `[\\w=-]{36,}`, '<w36>=', '<w9>'),
  ruleFromRow('supabase-token', 'sbp_ sb_secret_', `${DIGIT}${NAME}{20,}`, '<h40>', '<h9>'),
  ruleFromRow('tailscale-key', 'tskey-', `${NAME}{20,}`, 'auth-<w16>-<w32>', '<w9>'),
  ruleFromRow('tavily-key', 'tvly-', `${DIGIT}${NAME}{28,}`, '<w32>', '<w9>'),
  ruleFromRow('teams-webhook', 'webhook.office.com/', `webhookb2/(?<secret>${UUID}@[\\w/-]{36,})`, 'webhookb2/<uuid>@<uuid>/IncomingWebhook/<h32>/<uuid>', 'webhookb2/<h8>'),
  ruleFromRow('telegram-token', ':A', `(?<=(?<![\\w])(?<before>\\d{6,14}):A)${NAME}{34}(?![\\w-])`, '<d9>@<w34>', '<d9>@<w20>'),
  ruleFromRow('terraform-token', '.atlasv1.', `(?<=(?<before>${WORD}{10,16})\\.atlasv1\\.)[\\w=-]{40,}`, '<w14>@<w64>', '<w4>@<w64>'),
  ruleFromRow('trello-token', 'ATTA', `[0-9a-f]{60,}`, '<h64>', '<h9>'),
  ruleFromRow('together-key', 'tgp_v1_', `${NAME}{40,}`, '<w43>', '<w9>'),
  ruleFromRow('twilio-key', 'SK', `[0-9a-fA-F]{32}${END}`, '<h32>', '<h20>'),
  ruleFromRow('twilio-key', 'AC', `[0-9a-f]{32}:(?<secret>[0-9a-f]{32}${END})`, '<h32>:<h32>', '<h32>:x'),
  ruleFromRow('twitter-token', 'AAAAAAAAAAAAAAAAAAAAA', `${DIGIT}[A-Za-z0-9%]{60,}`, '<w90>', '<w9>'),
  ruleFromRow('typeform-token', 'tfp_', `[\\w.=-]{50,}`, '<w59>', '<w9>'),
  ruleFromRow('unkey-key', 'unkey_', `${WORD}{18,}`, '<w22>', '<w9>'),
  ruleFromRow('vault-token', 'hvs. hvb. hvr.', `${NAME}{24,}`, '<w90>', '<w9>'),
  ruleFromRow('vercel-token', 'vercel_blob_rw_ vcp_ vck_', `\\w{24,}`, '<w16>_<w30>', '<w9>'),
  ruleFromRow('voyage-key', 'pa-', `${MIXED}${NAME}{43}${END}`, '<w43>', 'short'),
  ruleFromRow('wakatime-key', 'waka_', UUID, '<uuid>', '<h8>'),
  ruleFromRow('wandb-key', 'wandb_v1_', `\\w{60,}`, '<w27>_<w49>', '<w9>'),
  ruleFromRow('xai-key', 'xai-', `${WORD}{60,}`, '<w80>', '<w9>'),
  ruleFromRow('xata-key', 'xau_', `${WORD}{30,}`, '<w40>', '<w9>'),
  ruleFromRow('yandex-key', 'AQVN', `${NAME}{35,38}${END}`, '<w36>', '<w9>'),
  ruleFromRow('yandex-key', 't1.', `${NAME}{20,400}={0,2}\\.${NAME}{86}={0,2}`, '<w60>.<w86>', '<w20>.<w9>'),
  ruleFromRow('zapier-webhook', 'hooks.zapier.com/', `hooks/catch/\\d{4,12}/(?<secret>[a-z0-9]{6,})`, 'hooks/catch/<d8>/<a7>', 'hooks'),
  ruleFromRow('zapier-webhook', 'mcp.zapier.com/api/mcp/', `[a-z]{1,9}/(?<secret>[\\w+=-]{20,})`, 's/<w56>', 's/docs'),
  ruleFromRow('zhipu-key', '.', `(?<=(?<![\\w])(?<before>[0-9a-f]{32})\\.)(?=\\w{0,31}[A-Z])${WORD}{16,32}${END}`, '<h32>@aB3<w13>', '<h32>@<w9>'),
  ruleFromRow('zuplo-key', 'zpka_', `\\w{30,}`, '<h32>_<h8>', '<h9>'),
];

const CLOSING = /-{4,5} ?END [A-Z0-9 ]{1,60}-{4,5}/y;
const HEADER =
  /(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset|Subject|Encryption|Public-Lines|Private-Lines|Private-MAC|Key-Derivation|Argon2-[A-Za-z]{1,20}) ?:/y;
const MAX_HEADER_CHARS = 256;
const MAX_HEADERS = 16;
const MAX_HEADER_WORDS = 16;
/** Minimum length of a sequence that is a line of a key rather than a word. */
const LINE_CHARS = 16;

/** PEM, OpenSSH, PGP, PuTTY; also cut off, in JSON, quoted, numbered or logged. Undefined for an opening without a key. */
function privateKeyEnd(text: string, start: number): number | undefined {
  let end: number | undefined;
  let position = start;
  let headers = 0;
  let words = 0;
  for (;;) {
    const lineStart = skipSeparators(text, position);
    CLOSING.lastIndex = lineStart;
    if (CLOSING.test(text)) return end === undefined ? undefined : CLOSING.lastIndex;
    HEADER.lastIndex = lineStart;
    if (headers < MAX_HEADERS && HEADER.test(text)) {
      headers += 1;
      words = MAX_HEADER_WORDS;
      position = HEADER.lastIndex;
      continue;
    }
    const stop = runEnd(text, lineStart, ALNUM | BASE64_EXTRA);
    if (stop - lineStart >= LINE_CHARS) {
      end = stop;
      position = stop;
      words = 0;
    } else if (words > 0 && lineStart < text.length) {
      words -= 1;
      position = wordEnd(text, lineStart);
    } else {
      return end === undefined ? undefined : lastEnd(text, { start: lineStart, stop, end });
    }
  }
}

/** A short last line belongs to the key if an end marker follows or if it is a separate line. */
function lastEnd(text: string, last: { readonly start: number; readonly stop: number; readonly end: number }): number {
  if (last.stop === last.start) return last.end;
  CLOSING.lastIndex = skipSeparators(text, last.stop);
  if (CLOSING.test(text)) return CLOSING.lastIndex;
  return /\n|\\n/.test(text.slice(last.end, Math.min(last.start, last.end + MAX_HEADER_CHARS))) ? last.stop : last.end;
}

function skipSeparators(text: string, start: number): number {
  let position = start;
  for (;;) {
    const unit = text[position];
    if (unit === '\\') {
      const nextChar = text[position + 1];
      position += nextChar === 'n' || nextChar === 'r' || nextChar === 't' ? 2 : 1;
      if (nextChar === 'n') position = skipLineHead(text, position);
    } else if (unit !== undefined && ' \t\r\n"\'`,|>'.includes(unit)) {
      position += 1;
      if (unit === '\n') position = skipLineHead(text, position);
    } else {
      return position;
    }
  }
}

function wordEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_HEADER_CHARS);
  let position = start;
  while (position < limit && !isOf(text, position, BLANK) && text[position] !== '\\') position += 1;
  return position;
}

function isUserAndPassword(encoded: string): boolean {
  if (encoded.length > 4_095) return true;
  // `atob` is not used, because it throws an error for most other words, which would be slow.
  return /^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(encoded, 'base64').toString('latin1'));
}

/** Excludes variables, templates, masks and placeholders as passwords of an address. */
const NO_REFERENCE = String.raw`(?!\$[A-Z_{(]|<[^@\s]{0,60}>|\{|%[\w(]{1,20}[)%s]|\*+@|\[)`;
const USER = String.raw`[^\s/?#<>"'\x60{}|^[\]\\:@]`;

/** A value that a person or a generator made: a capital and a digit, or letters and digits by turns. */
const MADE = String.raw`(?=\S{0,64}\d)(?:(?=\S{0,64}[A-Z])(?=\S{0,64}[a-z])|(?=\S{0,64}\d[a-z]{1,20}\d))`;
const VALUE = String.raw`[^\s"'\x60$%|<>(){},;:=]`;
const NAME_END = ['KEY', 'TOKEN', 'SECRET', 'PASSWORD', 'PASS', 'PAT'];

function rule(id: string, expression: string): Pick<SecretRule, 'id' | 'expression' | 'atWord'> {
  return { id, expression, atWord: true };
}

const COMMON_RULES: readonly SecretRule[] = [
  {
    ...rule('private-key', String.raw`(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}`),
    keywords: ['-----BEGIN ', '---- BEGIN '],
    endOf: privateKeyEnd,
    matches: ['EC PRIVATE KEY-----\n<w64>\n<w20>=\n-----END EC PRIVATE KEY-----'],
    misses: ['EC PRIVATE KEY----- is how it begins', 'CERTIFICATE-----\n<w64>\n<w64>'],
  },
  {
    // The rest of a key that was read from some line on.
    ...rule(
      'private-key',
      String.raw`(?<=(?<before>(?:(?:^|\n|\\n)[^\n]{0,24}?[A-Za-z0-9+/=]{4,80}\r?){1,200}(?:\n|\\n)[^\n]{0,24})-----END )(?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----`,
    ),
    atWord: false,
    keywords: ['-----END '],
    matches: [],
    misses: ['PRIVATE KEY-----', 'CERTIFICATE-----'],
  },
  {
    ...ruleFromRow('private-key', 'PuTTY-User-Key-File-', String.raw`\d: ?[a-z0-9-]{1,40}`, '', ''),
    endOf: privateKeyEnd,
    matches: ['3: ssh-rsa\nEncryption: none\n<w64>'],
    misses: ['3: ssh-rsa'],
  },
  {
    ...ruleFromRow('jwt', '.eyJ', String.raw`(?<=(?<before>eyJ[\w-]{8,2000})\.eyJ)[\w-]{4,}(?:\.[\w-]*){0,3}`, '', ''),
    matches: ['eyJ<w20>@<w30>.<w43>', 'eyJ<w20>@<w30>'],
    misses: ['a@<w20>', 'eyJ<w20>@<w3>'],
  },
  {
    ...rule('bearer-token', String.raw`(?<secret>(?=[\w.+/=~-]{32}|[\w.+/=~-]{0,31}\d)[\w.+/=~-]{16,})`),
    keywords: ['Bearer ', 'bearer ', 'BEARER '],
    matches: ['<w20>', '<w40>'],
    misses: ['tokens', '<w9>', 'authentication-is-used'],
  },
  {
    ...rule('basic-auth', '(?<secret>[A-Za-z0-9+/]{8,}={0,2})'),
    keywords: ['Basic ', 'basic ', 'BASIC '],
    check: isUserAndPassword,
    matches: ['dXNlcjpodW50ZXIy', 'YWRtaW46bGV0bWVpbg=='],
    misses: ['authentication', 'information'],
  },
  {
    // `.npmrc`, Docker's `config.json`.
    ...rule('basic-auth', '(?<secret>[A-Za-z0-9+/]{8,}={0,2})'),
    keywords: ['_auth=', '_auth = ', '"auth":"', '"auth": "', String.raw`\"auth\":\"`, String.raw`\"auth\": \"`],
    check: isUserAndPassword,
    matches: ['dXNlcjpodW50ZXIy', 'YWRtaW46bGV0bWVpbg=='],
    misses: ['required'],
  },
  {
    // The fish shell.
    ...rule(
      'named-secret',
      String.raw`\w{0,60}(?:KEY|TOKEN|SECRET|PASSWORD|PASS|PAT) {1,4}["']?(?<secret>[^\s"'$%]{6,500})`,
    ),
    keywords: ['set -gx ', 'set -Ux ', 'set -x '],
    matches: ['OPENAI_API_KEY <w20>'],
    misses: ['EDITOR <w9>', 'API_KEY $OTHER_KEY'],
  },
  {
    // `vercel env ls`, `aws configure set`, tables.
    ...rule('named-secret', `[ \\t]{0,40}(?<secret>${MADE}${VALUE}{8,500})(?=\\s|["'\\\\]|$)`),
    atWord: false,
    keywords: NAME_END.flatMap((end) => [`_${end} `, `_${end}\t`, `_${end.toLowerCase()} `]),
    matches: ['Hunter2<w9>', '   1a2b3<h12>'],
    misses: ['user_id_2', '= 12', 'is required for Release2'],
  },
  {
    // `aws ssm put-parameter`, `gh secret set`, `vault`, `Set-Item`.
    ...rule(
      'named-secret',
      String.raw`(?<=(?:SecureString|[Ss]ecret (?:set|create)|secretsmanager |[Ss]et-[IC])[^\n]{0,200}(?:--\w[\w-]{0,20}|-Value|-b) )["']?(?<secret>[^\s"'$<-][^\s"'$]{3,500})`,
    ),
    atWord: false,
    keywords: ['--value ', '--body ', '--secret-string ', '-Value '],
    matches: [],
    misses: ['<w20>'],
  },
  {
    ...rule(
      'named-secret',
      String.raw`(?<=[Ss]et-(?:[Ii]tem|[Cc]ontent) [^\n]{0,24}(?:env|Env|ENV):)\w{0,60}(?:${NAME_END.join('|')})["']?(?: -Value)? {1,4}["']?(?<secret>[^\s"'$-][^\s"'$]{3,500})`,
    ),
    atWord: false,
    keywords: ['env:', 'Env:', 'ENV:'],
    matches: [],
    misses: ['API_TOKEN word'],
  },
  {
    id: 'url-credentials',
    keywords: ['://'],
    // A password, or a key with a digit in place of the user.
    expression: `(?:${USER}{0,512}:(?<secret>${NO_REFERENCE}[^\\s/?#<>"'\\x60{}|^\\\\]{1,2000})(?=@)|(?<key>(?=[^@]{0,64}\\d)${USER}{16,512})(?=@))`,
    atWord: false,
    check: (secret) => !/^(?:pass(?:word|wd)?|pwd|secret|x+|xyz|\*+)$/i.test(secret),
    matches: ['app:<w12>@host', ':<w9>@cache:6379', '<w20>@sentry.example'],
    misses: [
      'example.com/a:b@c',
      'app:$PASSWORD@host',
      'app:<password>@host',
      'app@host',
      'only-letters-stand-here@host',
    ],
  },
  {
    // SQL that sets a password.
    ...rule('named-secret', String.raw`(?<secret>[^'\n]{3,200})(?=')`),
    keywords: ["IDENTIFIED BY '", "identified by '", "PASSWORD '", "password '"],
    matches: ["<w9>'"],
    misses: ["a'", '<w9>'],
  },
];

export const SECRET_RULES: readonly SecretRule[] = [...COMMON_RULES, ...TOKEN_RULES];

export const BUILT_IN_RULES: readonly string[] = [
  ...new Set(['named-secret', 'cookie', ...SECRET_RULES.map(({ id }) => id)]),
];
