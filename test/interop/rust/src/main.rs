//! An agent and a client of the Rust SDK: "serve" prints its port on the first line and stops when its standard input ends;
//! "call URL" prints one JSON line per check. The agent begins its streams with a status, as the SDK's own example does.

use std::{io::Read, sync::Arc};

use a2a::{A2AError, AgentCard, PartContent, SendMessageRequest, SendMessageResponse, StreamResponse};
use a2a_client::{A2AClientFactory, agent_card::AgentCardResolver};
use a2a_server::{AgentExecutor, DefaultRequestHandler, ExecutorContext, InMemoryTaskStore, StaticAgentCard};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde_json::{Value, json};

struct Echo;

fn event(value: Value) -> Result<StreamResponse, A2AError> {
    Ok(serde_json::from_value(value).expect("an event"))
}

fn status(context: &ExecutorContext, state: &str) -> Result<StreamResponse, A2AError> {
    let (task_id, context_id) = context.task_info();
    event(json!({"statusUpdate": {"taskId": task_id, "contextId": context_id, "status": {"state": state}}}))
}

fn text_of(parts: &[a2a::Part]) -> String {
    parts.iter().map(|part| if let PartContent::Text(text) = &part.content { text.as_str() } else { "" }).collect()
}

impl AgentExecutor for Echo {
    fn execute(&self, context: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        let said = context.message.as_ref().map(|message| text_of(&message.parts)).unwrap_or_default();
        let working = status(&context, "TASK_STATE_WORKING");
        if said == "wait" {
            return stream::iter([working]).chain(stream::pending()).boxed();
        }
        let (task_id, context_id) = context.task_info();
        let artifact = json!({"artifactId": "answer", "parts": [{"text": format!("you said: {said}")}]});
        let answer = event(json!({"artifactUpdate": {"taskId": task_id, "contextId": context_id, "artifact": artifact}}));
        stream::iter([working, answer, status(&context, "TASK_STATE_COMPLETED")]).boxed()
    }

    fn cancel(&self, context: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        stream::iter([status(&context, "TASK_STATE_CANCELED")]).boxed()
    }
}

async fn serve() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let card: AgentCard = serde_json::from_value(json!({
        "name": "rust", "description": "answers with its question", "version": "1.0.0",
        "supportedInterfaces": [
            {"url": format!("http://127.0.0.1:{port}/rpc"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": true}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [],
    }))
    .expect("a card");
    let handler = Arc::new(DefaultRequestHandler::new(Echo, InMemoryTaskStore::new()));
    let app = axum::Router::new()
        .nest("/rpc", a2a_server::jsonrpc::jsonrpc_router(handler))
        .merge(a2a_server::agent_card::agent_card_router(Arc::new(StaticAgentCard::new(card))));
    println!("{port}");
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    axum::serve(listener, app).await.expect("a server");
}

fn report(check: &str, got: String) {
    println!("{}", json!({"check": check, "got": got}));
}

async fn call(url: &str) {
    let card = AgentCardResolver::new(None).resolve(url).await.expect("a card");
    let client = A2AClientFactory::builder().build().create_from_card(&card).await.expect("a client");
    let said = |text: &str| -> SendMessageRequest {
        serde_json::from_value(json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}})).expect("a request")
    };
    let answer = match client.send_message(&said("hello")).await.expect("an answer") {
        SendMessageResponse::Message(message) => text_of(&message.parts),
        SendMessageResponse::Task(task) => {
            task.artifacts.unwrap_or_default().iter().map(|artifact| text_of(&artifact.parts)).collect()
        }
    };
    report("send", answer);
    let mut streamed = String::new();
    let mut events = client.send_streaming_message(&said("stream")).await.expect("a stream");
    while let Some(event) = events.next().await {
        if let StreamResponse::ArtifactUpdate(update) = event.expect("an event") {
            streamed += &text_of(&update.artifact.parts);
        }
    }
    report("stream", streamed);
}

#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(2) {
        Some(url) => call(url).await,
        None => serve().await,
    }
}
