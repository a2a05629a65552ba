// Keeps what an agent's tools were asked and answered, and finds why something was decided.
import { Store } from 'varve';

const store = await Store.open(process.argv[2] ?? 'memory:');
const session = await store.createSession({ agentId: 'planner' });

/** A call and its result, which refers to it: both or none. */
async function call(tool, question, answer, traceId) {
  await session.addBatch([
    { id: `${tool}-call`, type: 'tool_call', traceId, content: { tool, arguments: question } },
    { id: `${tool}-result`, type: 'tool_result', traceId, content: { tool, answer },
      references: [`${tool}-call`] }]);
}

await call('find_ferry', { from: 'Kiel' }, { leaves: '09:15' }, 'trip');
await call('read_weather', { at: 'Kiel' }, { wind: 'storm' }, 'trip');
await session.add({
  id: 'wait', type: 'decision', content: 'Take the ferry tomorrow', traceId: 'trip',
  references: ['find_ferry-result'], relations: { caused_by: ['read_weather-result'] } });

console.log('The whole trace:');
const trace = session.results({ traceId: 'trip', sortBy: 'time', order: 'asc' });
for await (const { entry } of trace) console.log(' ', entry.type, entry.id);

console.log('Why wait?');
const { results } = await session.query({ references: ['wait'], relation: 'caused_by' });
for (const { entry } of results) console.log(' ', JSON.stringify(entry.content));
await store.close();
