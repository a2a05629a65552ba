// varve: embedded memory for agents.
export { LoadError, VarveError } from './errors.js';
export { load, statusName, version } from './native.js';
export { Memory } from './memory.js';
export { Session } from './session.js';
export { Store } from './store.js';
export { Window } from './window.js';
