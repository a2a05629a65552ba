//! Keeps what an agent's tools were asked and answered, and finds why something was decided.
use serde_json::{json, Value};
use varve::{Entry, Order, Query, Session, SessionOptions, SortBy, Store};

/// A call and its result, which refers to it: both or none.
fn call(session: &Session, tool: &str, arguments: Value, answer: Value) -> varve::Result<()> {
    let (call, result) = (format!("{tool}-call"), format!("{tool}-result"));
    session.add_batch([
        Entry::new("tool_call", json!({"tool": tool, "arguments": arguments}))
            .id(&call)
            .trace("trip"),
        Entry::new("tool_result", json!({"tool": tool, "answer": answer}))
            .id(result)
            .trace("trip")
            .reference(call),
    ])?;
    Ok(())
}

fn main() -> varve::Result<()> {
    let store = Store::open(std::env::args().nth(1).unwrap_or_else(|| "memory:".into()))?;
    let session = store.create_session(SessionOptions::default().agent("planner"))?;

    call(&session, "find_ferry", json!({"from": "Kiel"}), json!({"leaves": "09:15"}))?;
    call(&session, "read_weather", json!({"at": "Kiel"}), json!({"wind": "storm"}))?;
    session.add(
        Entry::new("decision", "Take the ferry tomorrow")
            .id("wait")
            .trace("trip")
            .reference("find_ferry-result")
            .relation("caused_by", "read_weather-result"),
    )?;

    println!("The whole trace:");
    let trace = Query::all().trace("trip").sort_by(SortBy::Time).order(Order::Asc);
    for hit in session.query(trace)? {
        println!("  {} {}", hit.entry.kind, hit.entry.id);
    }
    println!("Why wait?");
    for hit in session.query(Query::all().references(["wait"], 1).relation("caused_by"))? {
        println!("  {}", hit.entry.content);
    }
    Ok(())
}
