/**
 * The floors: a folder imports itself and lower floors only. Folders on one floor do not see each other.
 * Type imports count. Tests may also import `testing/`.
 */
const FLOORS = [
  ['base'],
  ['events', 'html'],
  ['session', 'store'],
  ['trajectory', 'recorder'],
  ['detectors', 'prompt', 'advice', 'run-view'],
  ['feedback', 'guidance'],
  // Where the parts meet: the files that lie in src itself.
  ['[^/]+[.]ts'],
  // What every adapter shares.
  ['host'],
  ['adapters/claude-agent-sdk', 'adapters/openai', 'adapters/openai-agents', 'adapters/ai-sdk', 'formats', 'config'],
  ['backtest', 'claude-code', 'testing'],
  ['viewer'],
  ['cli'],
];

const folder = (name) => (name.includes('[.]') ? `^src/${name}$` : `^src/${name}/`);

const floorRules = FLOORS.flatMap((names, floor) =>
  names.flatMap((name) => {
    const others = names.filter((other) => other !== name);
    const above = [...others, ...FLOORS.slice(floor + 1).flat()];
    // An empty list would match everything.
    if (above.length === 0) return [];
    return {
      name: `floor ${floor}: ${name}`,
      comment: 'imports only itself and lower floors (docs/architecture.md)',
      severity: 'error',
      from: { path: folder(name), pathNot: '[.]test[.]ts$' },
      to: { path: above.map(folder) },
    };
  }),
);

const testRules = FLOORS.slice(0, -1).flatMap((names, floor) =>
  names.map((name) => ({
    name: `floor ${floor} tests: ${name}`,
    severity: 'error',
    from: { path: folder(name).replace(/[$]$/, '') + '.*[.]test[.]ts$' },
    to: {
      path: [...names.filter((other) => other !== name), ...FLOORS.slice(floor + 1).flat()]
        .filter((other) => other !== 'testing')
        .map(folder),
    },
  })),
);

const PURE = '^src/(?:events|session|trajectory|detectors|advice|run-view)/';

module.exports = {
  forbidden: [
    ...floorRules,
    ...testRules,
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'folds are pure',
      comment: 'no node: module in a fold',
      severity: 'error',
      from: { path: PURE, pathNot: '[.]test[.]ts$' },
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
      comment: 'the page is built into the package with what it imports',
      severity: 'error',
      from: { path: '^src/', pathNot: ['[.]test[.]ts$', '^src/testing/', '^src/viewer/page/'] },
      to: { dependencyTypes: ['npm-dev'] },
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
