/** Third-party packages in the bundles of `dist`: licence notices and the SBOM. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A package that is partly or fully bundled. */
interface BundledPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** The texts of its licence files. */
  readonly text: string;
}

const IN_PACKAGE = /^(.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+))[/\\]/;
const LICENSE_FILE = /^(?:licen[cs]e|notice|copying)(?:[.-].*)?$/i;

/**
 * Writes `THIRD-PARTY-NOTICES.txt` and `sbom.cdx.json` (CycloneDX) into a folder. Neither contains a time, a path or a host, so
 * the same sources produce the same files.
 *
 * @param modules  the paths of all bundled modules
 * @throws Error when a package has no licence file, or npm fails
 */
export function writeBundledPackages(folder: string, modules: Iterable<string>): void {
  const packages = packagesIn(modules);
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), noticesOf(packages));
  writeFileSync(join(folder, 'sbom.cdx.json'), `${JSON.stringify(billOfMaterials(packages), null, 2)}\n`);
}

function packagesIn(modules: Iterable<string>): readonly BundledPackage[] {
  const found = new Map<string, BundledPackage>();
  for (const module of modules) {
    const folder = IN_PACKAGE.exec(resolve(module))?.[1];
    if (folder === undefined || found.has(folder)) continue;
    // A package manifest; npm requires these members.
    const { license, name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as BundledPackage;
    const files = readdirSync(folder).filter((file) => LICENSE_FILE.test(file));
    if (files.length === 0) throw new Error(`${name} is bundled and has no licence file`);
    const text = files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
    found.set(folder, { name, version, license, text });
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function noticesOf(packages: readonly BundledPackage[]): string {
  const intro = 'coxswain contains parts of the following packages. Their licences:\n';
  const parts = packages.map(
    ({ license, name, text, version }) => `${'-'.repeat(78)}\n${name} ${version} (${license})\n\n${text}\n`,
  );
  return [intro, ...parts].join('\n');
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly properties?: readonly { readonly name: string }[];
}

/** npm's SBOM of the lockfile, without development dependencies that are not bundled. */
function billOfMaterials(bundled: readonly BundledPackage[]): object {
  // Vite has set NODE_ENV, which would make npm omit bundled packages.
  const args = [
    'sbom',
    '--include',
    'dev',
    '--sbom-format',
    'cyclonedx',
    '--sbom-type',
    'library',
    '--package-lock-only',
  ];
  const { npm_execpath: npm } = process.env;
  const isScript = npm?.endsWith('.js') === true;
  const ran = spawnSync(isScript ? process.execPath : 'npm', isScript ? [npm, ...args] : args, {
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'development' },
    maxBuffer: 64 * 1024 * 1024,
    shell: !isScript && process.platform === 'win32',
  });
  if (ran.status !== 0) throw new Error(`npm sbom: ${ran.stderr}`);
  // npm writes CycloneDX.
  const bill = JSON.parse(ran.stdout) as {
    readonly metadata: { readonly component: object };
    readonly components: readonly Component[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
  };
  const { name } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly name: string };
  const isBundled = new Set(bundled.map((one) => `${one.name}@${one.version}`));
  const components = bill.components
    .filter(
      (one) =>
        isBundled.has(`${one.name}@${one.version}`) ||
        one.properties?.some((property) => property.name === 'cdx:npm:package:development') !== true,
    )
    .map((one) => Object.assign(one, { scope: 'required', properties: [], externalReferences: [] }));
  const includedRefs = new Set(components.map((one) => one['bom-ref']));
  return {
    ...bill,
    // Both differ between builds.
    serialNumber: undefined,
    metadata: { ...bill.metadata, timestamp: undefined, component: { ...bill.metadata.component, name } },
    components,
    dependencies: bill.dependencies
      .filter(({ ref }) => includedRefs.has(ref))
      .map(({ dependsOn = [], ref }) => ({ ref, dependsOn: dependsOn.filter((one) => includedRefs.has(one)) })),
  };
}
