/** The oldest Node that runs the hook, as `engines` of the package: major, minor. */
export const LEAST_NODE: readonly [major: number, minor: number] = [22, 23];
