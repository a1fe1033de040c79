import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/** What a route is given besides the request: the connection's own objects. */
export interface ViewerEnv {
  readonly Bindings: HttpBindings;
}

/** A request and its answer. */
export type ApiContext = Context<ViewerEnv>;
