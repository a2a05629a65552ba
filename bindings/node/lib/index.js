// varve: embedded memory for agents.
export { LoadError, VarveError } from './errors.js';
export { load, version } from './native.js';
export { Session } from './session.js';
export { Store } from './store.js';
