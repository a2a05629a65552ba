//! Records a conversation, and builds what a model is given within a number of tokens.
use serde_json::json;
use varve::{ContextRequest, SessionOptions, Store};

fn main() -> varve::Result<()> {
    let store = Store::open(std::env::args().nth(1).unwrap_or_else(|| "memory:".into()))?;
    // A tokenizer goes here; this one counts words.
    store.set_token_counter(|text| text.split_whitespace().count() as u64)?;
    let session = store.create_session(SessionOptions::default().user("ann"))?;

    session.record("user_message", json!({"content": "I want to go from Kiel to Oslo"}))?;
    session.record(
        "tool_call",
        json!({"name": "find_ferry", "arguments": {"from": "Kiel"}, "call_id": "c1"}),
    )?;
    session.record(
        "tool_result",
        json!({"name": "find_ferry", "result": {"leaves": "14:00"}, "call_id": "c1"}),
    )?;
    for number in 0..40 {
        let remark = format!("Remark {number}: the sea is calm today, and the sky is blue");
        session.record("observation", json!({"content": remark}))?;
    }

    let context = session.context(
        ContextRequest::new("When does the ferry leave Kiel?").max_tokens(100).reserve_tokens(20),
    )?;
    println!("within the budget: {}", context.token_count <= 80);
    println!("the ferry is in it: {}", context.text.contains("14:00"));
    println!("something did not fit: {}", context.truncated);
    Ok(())
}
