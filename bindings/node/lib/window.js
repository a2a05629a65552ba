// A window: the last so many messages of a conversation, in memory only.
import { HANDLE, Resource, callLater, callNow, define } from './call.js';
import { document, givesMessages } from './documents.js';
import { entryToWire } from './names.js';

const ALL = 2n ** 64n - 1n;  // SIZE_MAX

export class Window extends Resource {
  constructor(handle) {
    super(handle, 'varve_window_free');
  }

  /** Makes an empty window for so many messages. */
  static async create(capacity, callOptions) {
    const gives = (handle) => new Window(handle);
    return callLater(null, 'varve_window_new', [capacity], gives, callOptions);
  }

  static createSync(capacity) {
    return new Window(callNow('varve_window_new', [capacity]));
  }

  /** How many messages are in it; 0 when it is closed. */
  get size() {
    return callNow('varve_window_size', [this[HANDLE]]);
  }
}

define(Window, {
  add: { calls: 'varve_window_add', takes: (message) => [document(message, entryToWire)] },
  recent: {
    calls: 'varve_window_recent', takes: (count) => [count ?? ALL], gives: givesMessages },
  text: { calls: 'varve_window_text' },
  clear: { calls: 'varve_window_clear' },
});
