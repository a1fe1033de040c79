/**
 * Measures redaction: `node scripts/redaction-coverage.ts [--misses] [FOLDER…]`. Generated secrets in the formats of public rule
 * sets (gitleaks, secretlint) are placed into contexts in which tools print them; a secret is found if no ten consecutive characters
 * remain. Then the code in the folders is redacted: each placeholder is a false hit. `docs/redaction.md` contains the figures.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { fillRecipe, seededBelow } from '../test/support/secret-recipe.ts';
import { redactText } from '../src/core/redact/redact-text.ts';

/** Family, variable name, and format; `~` marks a format that is recognisable only by its variable name. */
const KINDS = `
cloud AWS_ACCESS_KEY_ID AK|IA<A16>
cloud AWS_SESSION_ACCESS_KEY AS|IA<A16>
cloud AWS_SECRET_ACCESS_KEY ~<w40>
cloud AWS_BEARER_TOKEN_BEDROCK ABSK<w120>
cloud AWS_SESSION_TOKEN IQoJ|b3JpZ2lu<w200>
cloud MWS_AUTH_TOKEN amzn.|mws.<uuid>
cloud GOOGLE_API_KEY AI|za<w35>
cloud GOOGLE_CLIENT_SECRET GOC|SPX-<w28>
cloud GOOGLE_ACCESS_TOKEN ya|29.<w60>
cloud AZURE_CLIENT_SECRET <w3>8Q|~<w34>
cloud AZURE_STORAGE_ACCOUNT_KEY ~<w86>==
cloud AZURE_DEVOPS_PAT <w76>AZ|DO<w4>
cloud ALIBABA_ACCESS_KEY LT|AI<w20>
cloud DIGITALOCEAN_TOKEN dop|_v1_<h64>
cloud DIGITALOCEAN_REFRESH_TOKEN dor|_v1_<h64>
cloud YANDEX_API_KEY AQ|VN<w36>
cloud YANDEX_IAM_TOKEN t1.|<w60>.<w86>
cloud CLOUDFLARE_ORIGIN_CA_KEY v1.|0-<h24>-<h146>
cloud CLOUDFLARE_API_TOKEN ~<w40>
cloud CLOUDFLARE_USER_TOKEN cf|ut_<w48>
cloud HEROKU_API_KEY HRKU|-AA<w58>
cloud FLY_API_TOKEN fo1|_<w43>
cloud NETLIFY_AUTH_TOKEN nfp|_<w40>
cloud SCALINGO_TOKEN tk|-us-<w48>
cloud DYNATRACE_TOKEN dt0|c01.<A24>.<A64>
cloud OPENSHIFT_TOKEN sha256|~<w43>
code GITHUB_TOKEN gh|p_<w36>
code GITHUB_OAUTH_TOKEN gh|o_<w36>
code GITHUB_APP_TOKEN gh|s_<w36>
code GITHUB_INSTALLATION_TOKEN gh|s_<d7>_eyJ<w33>.eyJ<w60>.<w86>
code GITHUB_REFRESH_TOKEN gh|r_<w36>
code GITHUB_FINE_GRAINED_TOKEN github|_pat_<w22>_<w59>
code GITLAB_TOKEN gl|pat-<w20>
code GITLAB_TRIGGER_TOKEN gl|ptt-<h40>
code GITLAB_RUNNER_TOKEN gl|rt-<w20>
code GITLAB_RUNNER_REGISTRATION_TOKEN GR|1348941<w20>
code GITLAB_DEPLOY_TOKEN gl|dt-<w20>
code NPM_TOKEN np|m_<w36>
code PYPI_TOKEN py|pi-AgEIcHlwaS5vcmc<w80>
code RUBYGEMS_API_KEY ruby|gems_<h48>
code NUGET_API_KEY oy|2<a43>
code CLOJARS_TOKEN CLO|JARS_<a60>
code DOCKER_TOKEN dckr|_pat_<w27>
code BUILDKITE_TOKEN bk|ua_<a40>
code CIRCLECI_TOKEN CCI|PAT_<w22>_<h40>
code SONAR_TOKEN sq|u_<h40>
code SOURCEGRAPH_TOKEN sg|p_<h16>_<h40>
code ATLASSIAN_TOKEN AT|ATT3xFf<w180>
code ARTIFACTORY_API_KEY AK|Cp<w69>
code LINEAR_API_KEY lin|_api_<w40>
code POSTMAN_API_KEY PM|AK-<h24>-<h34>
code README_API_KEY rd|me_<a70>
code PULUMI_ACCESS_TOKEN pul|-<h40>
code TERRAFORM_TOKEN <w14>.atl|asv1.<w64>
code VAULT_TOKEN hv|s.<w90>
code DOPPLER_TOKEN dp|.pt.<w43>
code OCTOPUS_API_KEY AP|I-<A26>
code INFRACOST_API_KEY ic|o-<w32>
code PREFECT_API_KEY pn|u_<a36>
code HARNESS_API_KEY pa|t.<w22>.<w24>.<w20>
code DATABRICKS_TOKEN da|pi<h32>
code PLANETSCALE_TOKEN pscale|_tkn_<w43>
code SETTLEMINT_TOKEN sm|_pat_<w16>
code CLICKHOUSE_API_SECRET 4b|1d<w38>
model OPENAI_API_KEY s|k-<w48>
model OPENAI_PROJECT_API_KEY s|k-proj-<w80>
model ANTHROPIC_API_KEY s|k-ant-api03-<w93>AA
model HUGGINGFACE_TOKEN h|f_<w34>
model HUGGINGFACE_ORG_TOKEN api|_org_<w34>
model HUGGINGFACE_LETTERS_TOKEN h|f_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh
model GEMINI_API_KEY AQ|.Ab8RN6<w44>
model WANDB_API_KEY wandb|_v1_<w27>_<w49>
model CURSOR_API_KEY crsr|_<h64>
model VOYAGE_API_KEY p|a-<w43>
model GROQ_API_KEY gs|k_<w52>
model PERPLEXITY_API_KEY pp|lx-<w48>
model REPLICATE_API_TOKEN r|8_<w37>
model XAI_API_KEY x|ai-<w80>
model OPENROUTER_API_KEY s|k-or-v1-<h64>
model LANGSMITH_API_KEY lsv2|_pt_<h32>_<h10>
model PINECONE_API_KEY pc|sk_<w69>
model COHERE_API_KEY ~<w40>
model NVIDIA_API_KEY nv|api-<w64>
message SLACK_BOT_TOKEN xo|xb-<d12>-<d12>-<w24>
message SLACK_USER_TOKEN xo|xp-<d12>-<d12>-<d12>-<h32>
message SLACK_APP_TOKEN xa|pp-1-<A11>-<d12>-<h64>
message SLACK_REFRESH_TOKEN xo|xe-1-<w146>
message DISCORD_BOT_TOKEN M<w23>.<w6>.<w38>
message TELEGRAM_BOT_TOKEN <d9>:A<w34>
message SENDGRID_API_KEY S|G.<w22>.<w43>
message MAILGUN_API_KEY ke|y-<h32>
message MAILCHIMP_API_KEY <h32>-u|s12
message BREVO_API_KEY xkey|sib-<h64>-<a16>
message TWILIO_API_KEY S|K<h32>
message TWILIO_AUTH_TOKEN ~<h32>
message TWITTER_BEARER_TOKEN AAAAAAAAAAAAAAAAAAAAAA<w90>
message FACEBOOK_ACCESS_TOKEN EA|AC<w120>
pay STRIPE_SECRET_KEY sk|_live_<w24>
pay STRIPE_RESTRICTED_KEY rk|_live_<w24>
pay STRIPE_WEBHOOK_SECRET wh|sec_<w32>
pay SQUARE_ACCESS_TOKEN sq0|atp-<w22>
pay SHOPIFY_ACCESS_TOKEN shp|at_<h32>
pay PLAID_ACCESS_TOKEN access-|production-<uuid>
pay FLUTTERWAVE_SECRET_KEY FLW|SECK_TEST-<h32>-X
pay EASYPOST_API_KEY EZ|AK<w54>
pay SHIPPO_API_TOKEN shippo|_live_<h40>
pay DUFFEL_TOKEN duffel|_live_<w43>
watch GRAFANA_TOKEN gl|sa_<w32>_<h8>
watch GRAFANA_CLOUD_TOKEN gl|c_<w60>
watch SENTRY_AUTH_TOKEN sntr|ys_<w80>
watch NEW_RELIC_API_KEY NR|AK-<A27>
watch NEW_RELIC_LICENSE_KEY <h36>NR|AL
watch DATADOG_API_KEY ~<h32>
watch MAXMIND_LICENSE_KEY <w6>_<w29>_m|mk
app NOTION_TOKEN nt|n_<w46>
app FIGMA_TOKEN fi|gd_<w40>
app AIRTABLE_TOKEN pa|t<w14>.<h64>
app CONTENTFUL_TOKEN CF|PAT-<w43>
app DROPBOX_TOKEN s|l.<w136>
app HUBSPOT_TOKEN pa|t-na1-<uuid>
app TYPEFORM_TOKEN tf|p_<w59>
app FRAMEIO_TOKEN fio|-u-<w64>
app ONEPASSWORD_TOKEN op|s_eyJ<w250>
app ADOBE_CLIENT_SECRET p8|e-<a32>
app AGE_SECRET_KEY AGE-SEC|RET-KEY-1<A58>
app JWT_TOKEN ey|JhbGciOiJIUzI1NiJ9.ey|J<w60>.<w43>
app DB_PASSWORD ~<w14>
app ADMIN_PASSWORD ~$<w5>!<w6>
app SMTP_PASSWORD ~%<w12>
app ROOT_PASSWORD ~<<w12>
app CLIENT_SECRET ~{<w12>
`;

/** Contexts with and without a name for the secret: a variable (`¤`), an option or tag (`n`), or fixed words. `§` is the secret. */
const NAMED = [
  '¤=§',
  'export ¤=§',
  'export ¤="§"',
  "¤='§'",
  '¤: §',
  '  ¤: "§"',
  '- name: ¤\n  value: §',
  '{"¤":"§"}',
  '{"¤": "§", "x": 1}',
  String.raw`{"body":"{\"¤\":\"§\"}"}`,
  String.raw`{\\\"¤\\\":\\\"§\\\"}`,
  String.raw`A=1\n¤=§\nB=2`,
  'const ¤ = "§";',
  "¤ = '§'",
  '--n §',
  '--n=§',
  'cmd --n "§" --now',
  'https://h.example/x?n=§&page=2',
  '<n>§</n>',
  '<string name="¤">§</string>',
  '<add key="¤" value="§"/>',
  '<td>¤</td><td>§</td>',
  '{"Key":"¤","Value":"§"}',
  '{"name":"¤","value":"§"}',
  '{"ParameterKey":"¤","ParameterValue":"§"}',
  'os.environ["¤"] = "§"',
  'env = {"¤": "§"}',
  'setenv("¤", "§")',
  '| ¤ | § |',
  '   12\u2192¤=§',
  '12:¤=§',
  'src/.env:12:¤=§',
  '     3\t¤=§',
  '- ¤: §',
  '* ¤=§',
  '+¤=§',
  '2026-03-01T10:00:00Z INFO ¤=§',
  '\u001B[32m¤\u001B[0m=\u001B[33m§\u001B[0m',
  '{"¤":{"value":"§"}}',
  '¤:\n  - §',
  '{"¤":["§"]}',
  'n%3D§',
  '"¤&quot;:&quot;§&quot;',
  "{'¤' => '§'}",
  '¤ := "§"',
  'docker run -e ¤=§ image',
  'ENV ¤=§',
  '[section]\nn = §\n',
  'X-¤: §',
];
const OWN = [
  'mysql -u root -p§ db',
  "sshpass -p '§' ssh host",
  'redis-cli -a § ping',
  'curl -u user:§ https://h.example',
  'postgres://app:§@db.example/app',
  'curl -H "Authorization: Bearer §" https://h.example',
  'Authorization: Bearer §',
  'X-Api-Key: §',
  'mysql --password=§',
  "ALTER USER a IDENTIFIED BY '§';",
  'docker login -u me -p § registry.example',
  '{"password":{"value":"§"}}',
  'Cookie: session=§',
];
const BARE = [
  'see § here',
  '§',
  'echo "§" | cmd',
  'the key is §.',
  '   12\u2192§',
  '- §',
  '\u001B[31m§\u001B[0m',
  String.raw`x\n§\ny`,
  '(§)',
  '`§`',
  '["§"]',
  'a,§,b',
];
const ENCODED: readonly ((secret: string, name: string) => string)[] = [
  (secret, name) => `data ${Buffer.from(`${name}=${secret}\n`).toString('base64')} end`,
  (secret, name) => `data ${Buffer.from(`{"${name}":"${secret}"}`).toString('hex')} end`,
  (secret, name) => encodeURIComponent(`{"${name}":"${secret}"}`),
];

interface Count {
  tried: number;
  found: number;
}

const options = { off: new Set<string>(), allows: (): boolean => false, named: true };
const below = seededBelow(20_261_123);

/** Returns true if no ten consecutive characters of the secret remain in any encoding. */
function isGone(secret: string, redacted: string): boolean {
  const least = Math.min(10, secret.length);
  const plain = redacted.replaceAll(/\[REDACTED:[^\]]*\]/g, ' ');
  for (let at = 0; at + least <= secret.length; at += 1) if (plain.includes(secret.slice(at, at + least))) return false;
  return true;
}

const families = new Map<string, Count>();
const misses: string[] = [];
function count(family: string, isFound: boolean, what: string): void {
  const known = families.get(family) ?? { tried: 0, found: 0 };
  families.set(family, { tried: known.tried + 1, found: known.found + (isFound ? 1 : 0) });
  if (!isFound) misses.push(what);
}

const kinds = KINDS.trim().split('\n');
for (const line of kinds) {
  const [family = '', name = '', recipe = ''] = line.split(' ');
  const hasForm = !recipe.startsWith('~');
  const secret = fillRecipe(recipe.replace(/^~/, '').replaceAll('|', ''), below);
  const short = name.toLowerCase().replaceAll('_', '-');
  const place = (context: string): string =>
    context
      .replaceAll('¤', name)
      .replaceAll(/\bn\b(?=[=>% ])/g, short)
      .replace('§', () => secret);
  // Skips secrets that would be escaped in a shell, address or header.
  const isPlain = /^[\w.~=:|-]+$/.test(secret);
  for (const context of [...NAMED, ...OWN, ...(hasForm ? BARE : [])]) {
    const isQuoted = /["'>]§/.test(context) || /^[-*+\d\u2192 \t]*¤[=:] ?§$/.test(context);
    if (!isPlain && !isQuoted) continue;
    count(family, isGone(secret, redactText(place(context), options)), `${name} in ${JSON.stringify(context)}`);
  }
  for (const [index, encode] of ENCODED.entries()) {
    const text = encode(secret, name);
    count(family, !redactText(text, options).includes(text.slice(8, -8)), `${name} encoded ${index}`);
  }
}

const total = [...families.values()].reduce(
  (sum, { tried, found }) => ({ tried: sum.tried + tried, found: sum.found + found }),
  { tried: 0, found: 0 },
);
console.log(`${kinds.length} kinds, ${NAMED.length + OWN.length + BARE.length + ENCODED.length} contexts`);
for (const [family, { tried, found }] of [...families, ['all', total] as const])
  console.log(`${family.padEnd(8)} ${found} of ${tried} (${((100 * found) / tried).toFixed(1)} %)`);
if (process.argv.includes('--misses')) for (const miss of misses) console.log(`missed: ${miss}`);

/** The text files in a folder, recursively. */
function* filesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && /\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|c|h|sh|md|json|ya?ml|txt|jsonl|gz)$/.test(entry.name))
      yield join(entry.parentPath, entry.name);
  }
}

for (const folder of process.argv.slice(2).filter((one) => !one.startsWith('--'))) {
  let chars = 0;
  const hits = new Map<string, number>();
  for (const file of filesBelow(folder)) {
    const bytes = readFileSync(file);
    const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    if (text.length > 40_000_000) continue;
    chars += text.length;
    const redacted = redactText(text, options);
    if (redacted === text) continue;
    for (const { 1: rule = '', index } of redacted.matchAll(/\[REDACTED:([a-z0-9-]+)/g)) {
      hits.set(rule, (hits.get(rule) ?? 0) + 1);
      if (process.argv.includes('--misses'))
        console.log(`${file}: ${JSON.stringify(redacted.slice(Math.max(0, index - 60), index + 40))}`);
    }
  }
  const all = [...hits.values()].reduce((sum, one) => sum + one, 0);
  console.log(
    `${folder}: ${(chars / 1e6).toFixed(1)} MB, ${all} placeholders, ${(all / (chars / 1e6)).toFixed(2)} per MB`,
    Object.fromEntries(hits),
  );
}
