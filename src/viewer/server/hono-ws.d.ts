/**
 * Replaces the types of `hono/ws`. Those types need the types of a browser, and `@hono/node-server` refers to them. The viewer uses no
 * web sockets. `tsconfig.json` points to this file.
 */
export type UpgradeWebSocket<_Socket = unknown, _Options = unknown, _Context = unknown> = never;
