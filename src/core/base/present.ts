/** Members that may be undefined become optional. */
export type Present<Members> = {
  readonly [Name in keyof Members as undefined extends Members[Name] ? never : Name]: Members[Name];
} & {
  readonly [Name in keyof Members as undefined extends Members[Name] ? Name : never]?: Exclude<
    Members[Name],
    undefined
  >;
};

/** Copies an object without its undefined members. */
export function present<Members extends object>(members: Members): Present<Members> {
  const result: Record<string, unknown> = {};
  for (const name in members) if (members[name] !== undefined) result[name] = members[name];
  // Only undefined members are missing.
  return result as Present<Members>;
}
