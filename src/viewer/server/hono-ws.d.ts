/**
 * Stands in for the types of `hono/ws`, which need those of a browser and which `@hono/node-server` names; the viewer has no web
 * sockets. `tsconfig.json` points there.
 */
export type UpgradeWebSocket<_Socket = unknown, _Options = unknown, _Context = unknown> = never;
