import { ALNUM, BASE64_EXTRA, CAPITAL, DASH, DOT, HEX, UNDERSCORE } from './char-class.ts';

/** A token that is known by how it begins. */
export interface TokenPrefix {
  readonly rule: string;
  /** Holds at least one of `_`, `-`, `.`, which is where the search looks. */
  readonly prefix: string;
  /** Classes of what follows. */
  readonly body: number;
  /** Fewest units that follow; all that follow belong to it. */
  readonly min: number;
  /** Also needs a digit: prefixes that begin ordinary words too. */
  readonly digit: boolean;
  /** Only where a word begins; prefixes too short to be told inside a word. */
  readonly word: boolean;
}

const WORD = ALNUM | UNDERSCORE;
const NAME = WORD | DASH;
const DOTTED = NAME | DOT;

/** Prefixes of four marks that no word ends with. */
const TELLING: ReadonlySet<string> = new Set(['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_']);
/** Prefixes that names of other things begin with too. */
const COMMON: ReadonlySet<string> = new Set(['sk-', 'sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sess-', 'hf_', 'r8_']);

function token(rule: string, prefix: string, body: number, min: number): TokenPrefix {
  return { rule, prefix, body, min, digit: COMMON.has(prefix), word: prefix.length < 5 && !TELLING.has(prefix) };
}

/** Forms as their services document them. Lengths are a little below the documented ones, so that a cut token counts. */
export const TOKEN_PREFIXES: readonly TokenPrefix[] = [
  ...[...TELLING].map((prefix) => token('github-token', prefix, WORD, 30)),
  token('github-token', 'github_pat_', WORD, 30),
  ...['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glimt-', 'glagent-', 'glsoat-', 'gloas-'].map(
    (prefix) => token('gitlab-token', prefix, DOTTED, 20),
  ),
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxr-', 'xoxs-', 'xoxc-', 'xoxd-', 'xoxe-', 'xoxe.xox', 'xapp-'].map((prefix) =>
    token('slack-token', prefix, DOTTED | BASE64_EXTRA, 10),
  ),
  ...['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'whsec_'].map((prefix) =>
    token('stripe-key', prefix, WORD | BASE64_EXTRA, 16),
  ),
  token('anthropic-key', 'sk-ant-', NAME, 16),
  ...['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sess-'].map((prefix) => token('openai-key', prefix, NAME, 20)),
  token('openrouter-key', 'sk-or-', NAME, 20),
  token('openai-key', 'sk-', NAME, 20),
  token('hugging-face-token', 'hf_', ALNUM, 30),
  token('hugging-face-token', 'api_org_', ALNUM, 30),
  token('npm-token', 'npm_', ALNUM, 30),
  token('pypi-token', 'pypi-', NAME, 40),
  ...['dop_v1_', 'doo_v1_', 'dor_v1_'].map((prefix) => token('digitalocean-token', prefix, HEX, 60)),
  ...['shpat_', 'shpca_', 'shppa_', 'shpss_'].map((prefix) => token('shopify-token', prefix, HEX, 30)),
  token('sendgrid-key', 'SG.', DOTTED, 50),
  token('mailgun-key', 'key-', HEX, 32),
  ...['NRAK-', 'NRIQ-', 'NRRA-', 'NRII-', 'NRJS-', 'NRBR-', 'NRSP-'].map((prefix) =>
    token('new-relic-key', prefix, NAME, 19),
  ),
  ...['hvs.', 'hvb.', 'hvr.'].map((prefix) => token('vault-token', prefix, NAME, 24)),
  ...['dp.pt.', 'dp.st.', 'dp.ct.', 'dp.sa.', 'dp.scim.', 'dp.audit.'].map((prefix) =>
    token('doppler-token', prefix, DOTTED, 30),
  ),
  token('linear-key', 'lin_api_', ALNUM, 30),
  token('linear-key', 'lin_oauth_', ALNUM, 30),
  token('notion-token', 'secret_', ALNUM, 40),
  token('notion-token', 'ntn_', ALNUM, 40),
  ...['figd_', 'figu_', 'figo_', 'figdr_'].map((prefix) => token('figma-token', prefix, NAME, 30)),
  token('google-oauth', 'GOCSPX-', NAME, 20),
  token('google-oauth', 'ya29.', NAME, 20),
  token('age-key', 'AGE-SECRET-KEY-1', CAPITAL, 40),
  token('grafana-token', 'glsa_', WORD, 30),
  token('grafana-token', 'glc_', ALNUM | BASE64_EXTRA, 30),
  token('sentry-token', 'sntrys_', NAME | BASE64_EXTRA, 30),
  token('sentry-token', 'sntryu_', HEX, 40),
  token('supabase-token', 'sbp_', HEX, 40),
  token('supabase-token', 'sb_secret_', NAME, 20),
  token('netlify-token', 'nfp_', ALNUM, 36),
  token('groq-key', 'gsk_', ALNUM, 40),
  token('replicate-token', 'r8_', ALNUM, 36),
  token('perplexity-key', 'pplx-', ALNUM, 40),
  token('xai-key', 'xai-', ALNUM, 60),
  token('docker-token', 'dckr_pat_', NAME, 20),
  token('docker-token', 'dckr_oat_', NAME, 20),
  token('postman-key', 'PMAK-', NAME, 40),
  token('planetscale-token', 'pscale_tkn_', DOTTED, 30),
  token('planetscale-token', 'pscale_pw_', DOTTED, 30),
  token('pulumi-token', 'pul-', HEX, 40),
  token('rubygems-key', 'rubygems_', HEX, 40),
  token('square-token', 'sq0csp-', NAME, 40),
  token('square-token', 'sq0atp-', NAME, 20),
  token('tailscale-key', 'tskey-', NAME, 20),
  token('heroku-key', 'HRKU-', NAME, 30),
];
