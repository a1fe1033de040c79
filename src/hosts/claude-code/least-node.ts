/** The oldest supported version of Node. It equals `engines` in package.json. */
export const LEAST_NODE: readonly [major: number, minor: number] = [22, 23];
