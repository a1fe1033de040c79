/** Replaces the types of `hono/ws`, which need those of a browser. `tsconfig.json` points to this file. */
export type UpgradeWebSocket<_Socket = unknown, _Options = unknown, _Context = unknown> = never;
