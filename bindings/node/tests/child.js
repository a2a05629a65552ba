// Adds entries to a session that others are adding to, too.   usage: child STORE SESSION COUNT
import { Store } from '../lib/index.js';

const [place, id, count] = process.argv.slice(2);
const store = await Store.open(place);
const session = await store.openSession(id);
for (let n = 0; n < Number(count); n++) await session.add({ type: 'finding', content: n });
await store.close();
