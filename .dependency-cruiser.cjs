/** The folders of `src` and what each may import besides itself (docs/architecture.md). Type imports count. */
const FOLDERS = {
  core: [],
  stores: ['core'],
  formats: ['core'],
  adapters: ['core', 'formats', 'stores/registry'],
  hosts: ['core', 'stores', 'formats', 'adapters'],
  lab: ['core', 'stores', 'formats', 'hosts/config'],
  viewer: ['core', 'stores', 'formats', 'hosts/config', 'lab'],
  cli: ['core', 'stores', 'formats', 'adapters', 'hosts', 'lab', 'viewer', 'testing'],
  testing: ['core', 'adapters/host'],
};
/** Folds: no clock, no randomness, no module of Node. Time arrives on the record. */
const FOLDS = ['core/records', 'core/session', 'core/detect', 'core/steering/advice', 'core/facts'];

module.exports = {
  forbidden: [
    ...Object.entries(FOLDERS).map(([folder, allowed]) => ({
      name: `what ${folder} may import`,
      severity: 'error',
      // Tests beside the source also use the fakes of src/testing.
      from: { path: `^src/${folder}/`, pathNot: '[.]test[.]tsx?$' },
      to: { path: '^src/', pathNot: [folder, ...allowed].map((name) => `^src/${name}/`) },
    })),
    {
      name: 'every file has a folder',
      severity: 'error',
      from: { path: '^src/', pathNot: [...Object.keys(FOLDERS).map((folder) => `^src/${folder}/`), '^src/(?:index|edge)[.]ts$'] },
      to: {},
    },
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'folds are pure',
      severity: 'error',
      from: { path: FOLDS.map((folder) => `^src/${folder}/`), pathNot: '[.]test[.]ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'index files are for users',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '/index[.]ts$', pathNot: 'node_modules' },
    },
    {
      name: 'no development package in the product',
      comment: 'the page, what reads protobuf, and the parsers of shell and JSON with comments are built into the package with what they import; an optional peer is installed by whoever needs it',
      severity: 'error',
      from: { path: '^src/', pathNot: ['[.]test[.]ts$', '^src/testing/', '^src/viewer/page/', '^src/formats/otlp/otlp-protobuf[.]ts$'] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['npm-peer'], pathNot: '^node_modules/(?:jsonc-parser|unbash)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.js'], conditionNames: ['import', 'types', 'default'] },
  },
};
