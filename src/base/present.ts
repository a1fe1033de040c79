/** The members that have a value: those that may be undefined become optional. */
export type Present<Members> = {
  readonly [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  readonly [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/** A copy without the members that are undefined, for objects whose optional members are absent instead. */
export function present<Members extends object>(members: Members): Present<Members> {
  const kept: Record<string, unknown> = {};
  for (const name in members) if (members[name] !== undefined) kept[name] = members[name];
  // Nothing else was taken out.
  return kept as Present<Members>;
}
