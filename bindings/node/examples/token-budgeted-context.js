// Gives a model what it needs to know, in as many tokens as it has room for.
import { Store } from 'varve';

const store = await Store.open(process.argv[2] ?? 'memory:');
// The tokenizer of the model goes here; without one varve estimates.
store.setTokenCounter((text) => text.split(/\s+/).filter(Boolean).length);

const session = await store.createSession();
await session.record('user_message', { content: 'My name is Ann and I live in Kiel.' });
for (let day = 1; day <= 30; day++) {
  await session.record('user_message', { content: `Day ${day}: the weather stayed as it was.` });
}
await session.record('tool_call', { name: 'ferry', arguments: { from: 'Kiel' }, callId: 'c1' });
await session.record('tool_result', { name: 'ferry', result: 'leaves at 09:15', callId: 'c1' });

const context = await session.buildContext({
  question: 'Where does Ann live?', budget: { maxTokens: 120, reserveTokens: 20 } });
console.log('within the budget:', context.tokenCount <= 100);
console.log('knows where Ann lives:', context.text.includes('I live in Kiel'));
console.log('knows the last answer:', context.text.includes('leaves at 09:15'));
console.log('left out:', context.dropped > 0);
await store.close();
