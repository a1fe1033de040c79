/** The oldest supported Node, as in `engines` of the package. */
export const LEAST_NODE: readonly [major: number, minor: number] = [22, 23];
