/**
 * Publishes the built package: `node scripts/release.ts --repository OWNER/NAME` (a GitHub workflow needs no option; `--dry-run` uses no
 * registry). The sources name no repository, so a fork publishes under its own name: `repository`, `homepage` and `bugs` are written into
 * the packed copy, and its README gets absolute links. The SBOM is written next to the package.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const EXAMPLE = 'owner/coxswain';

const { values } = parseArgs({
  options: { repository: { type: 'string' }, 'dry-run': { type: 'boolean', default: false } },
});
const isDry = values['dry-run'];
const repository = values.repository ?? process.env['GITHUB_REPOSITORY'] ?? (isDry ? EXAMPLE : '');
if (!/^[\w.-]+\/[\w.-]+$/.test(repository)) {
  console.error('The repository is unknown, and provenance needs it: node scripts/release.ts --repository OWNER/NAME');
  process.exit(2);
}

const work = mkdtempSync(join(tmpdir(), 'coxswain-release-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', work]);
const tarball = readdirSync(work).find((name) => name.endsWith('.tgz')) ?? '';
run('tar', ['-xzf', tarball], work);
// The SBOM names the package by its folder.
const folder = join(work, 'coxswain');
renameSync(join(work, 'package'), folder);
const version = prepare(folder);
// Runs in the packed copy: with `--omit dev`, npm would also omit packages that a dev dependency shares.
run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--prefer-offline'], folder);
const bill = run('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], folder);
rmSync(join(folder, 'package-lock.json'));
writeFileSync(resolve('sbom.cdx.json'), bill);
// npm writes CycloneDX.
const { components } = JSON.parse(bill) as { readonly components: readonly unknown[] };
const provenance = isDry ? ['--dry-run'] : ['--provenance'];
run('npm', ['publish', '--access', 'public', '--ignore-scripts', ...provenance, folder]);
console.log(
  `${isDry ? 'dry run of' : 'published'} coxswain ${version} from ${repository}; ${components.length} packages in sbom.cdx.json`,
);

/** Writes the repository into the packed copy and validates the copy. @returns the version */
function prepare(to: string): string {
  const address = `https://github.com/${repository}`;
  const file = join(to, 'package.json');
  // Our package.json.
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly version: string;
    readonly scripts?: unknown;
    readonly devDependencies?: unknown;
  };
  const { scripts: _, devDependencies: __, ...kept } = manifest;
  const links = {
    repository: { type: 'git', url: `git+${address}.git` },
    homepage: `${address}#readme`,
    bugs: `${address}/issues`,
  };
  writeFileSync(file, `${JSON.stringify({ ...kept, ...links }, null, 2)}\n`);
  const readme = join(to, 'README.md');
  const text = absoluteLinks(readFileSync(readme, 'utf8'), address, `v${manifest.version}`);
  const relative = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)]*)\)/g)].map(([, link]) => link);
  const missing = ['docs/detection.md', 'examples/package.json', 'dist/index.js', 'CHANGELOG.md'].filter(
    (name) => !existsSync(join(to, name)),
  );
  if (relative.length + missing.length > 0) {
    console.error(
      `The package cannot be published: relative links ${relative.join(', ') || 'none'}; missing ${missing.join(', ') || 'none'}`,
    );
    process.exit(1);
  }
  writeFileSync(readme, text);
  return manifest.version;
}

function absoluteLinks(text: string, address: string, tag: string): string {
  return text.replaceAll(
    /(!?)\[([^\]]*)\]\((?!\w+:|#)([^)\s]+)\)/g,
    (_link, mark: string, label: string, path: string) =>
      `${mark}[${label}](${address}/${mark === '' ? 'blob' : 'raw'}/${tag}/${path})`,
  );
}

function run(program: string, args: readonly string[], cwd = '.'): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? stderr}`);
  return stdout;
}
