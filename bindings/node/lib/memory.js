// A memory: what an agent remembers of one user, in three tiers over one store.
import { AT_ONCE, Resource, define } from './call.js';
import { choosing, document, givesContext, givesPage } from './documents.js';
import { entryToWire } from './names.js';

const entry = (value) => document(value, entryToWire);

export class Memory extends Resource {
  #store;

  constructor(handle, store) {
    super(handle, 'varve_memory_close', store);
    this.#store = store;
  }

  get [AT_ONCE]() {
    return this.#store[AT_ONCE];
  }
}

define(Memory, {
  record: { calls: 'varve_memory_record', takes: (session, message) => [session, entry(message)] },
  context: {
    calls: 'varve_memory_context', takes: (session, maxTokens) => [session, maxTokens ?? 0],
    gives: givesContext },
  load: { calls: 'varve_memory_load', takes: (session) => [session] },
  save: { calls: 'varve_memory_save', takes: (session) => [session] },
  clear: { calls: 'varve_memory_clear' },
  store: { calls: 'varve_memory_store', takes: (message) => [entry(message)] },
  search: {
    calls: 'varve_memory_search', takes: (query) => [choosing(query)], gives: givesPage },
  delete: { calls: 'varve_memory_delete', takes: (id, reason) => [id, reason] },
});
