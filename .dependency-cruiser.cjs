/**
 * The rooms of `rooms.json`: a room imports itself and rooms of lower floors only. Type imports count. Tests may also
 * import `test/support` and `src/testing`.
 */
const { floors, pure } = require('./rooms.json');

const FLOORS = floors.map((rooms) => Object.keys(rooms));
const ROOMS = FLOORS.flat();

/** Files of a room, without those of the rooms inside it. */
const filesOf = (room) => {
  const inside = ROOMS.filter((other) => other.startsWith(`${room}/`)).map((other) => other.slice(room.length + 1));
  return inside.length === 0 ? `^src/${room}/` : `^src/${room}/(?!(?:${inside.join('|')})/)`;
};

const floorRules = FLOORS.flatMap((rooms, floor) =>
  rooms.flatMap((room) => {
    const above = [...rooms.filter((other) => other !== room), ...FLOORS.slice(floor + 1).flat()];
    // An empty list would match everything.
    if (above.length === 0) return [];
    const rule = (kind, from, to) => ({
      name: `rooms.json, floor ${floor}${kind}: ${room}`,
      comment: 'a room imports itself and lower floors only (docs/architecture.md)',
      severity: 'error',
      from,
      to: { path: to.map(filesOf) },
    });
    return [
      rule('', { path: filesOf(room), pathNot: '[.]test[.]ts$' }, above),
      rule(
        ' tests',
        { path: `${filesOf(room)}.*[.]test[.]ts$` },
        above.filter((other) => other !== 'testing'),
      ),
    ];
  }),
);

module.exports = {
  forbidden: [
    ...floorRules,
    {
      name: 'every file has a room',
      severity: 'error',
      from: { path: '^src/', pathNot: [...ROOMS.map((room) => `^src/${room}/`), '^src/(?:index|edge)[.]ts$'] },
      to: {},
    },
    {
      name: 'the product knows no tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '[.]test[.]ts$' },
      to: { path: '^test/' },
    },
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'folds are pure',
      comment: 'no node: module in a fold',
      severity: 'error',
      from: { path: pure.map(filesOf), pathNot: '[.]test[.]ts$' },
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
