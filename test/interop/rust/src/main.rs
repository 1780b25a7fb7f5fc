//! An agent and a client of the Rust SDK: "serve" prints its port on the first line and stops when its standard input ends;
//! "call URL BINDING" prints one JSON line per check; "card URL" reads a card. The agent begins its streams with a status, as the
//! SDK's own example does.

use std::{io::Read, sync::Arc, time::Duration};

use a2a::{A2AError, AgentCard, PartContent, SendMessageRequest, SendMessageResponse, StreamResponse};
use a2a_client::{A2AClient, A2AClientFactory, Transport, agent_card::AgentCardResolver};
use a2a_grpc::{GrpcHandler, GrpcTransportFactory};
use a2a_pb::proto::a2a_service_server::A2aServiceServer;
use a2a_server::{AgentExecutor, DefaultRequestHandler, ExecutorContext, InMemoryPushConfigStore, InMemoryTaskStore, StaticAgentCard};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use serde::{Serialize, de::DeserializeOwned};
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
    let grpc = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let grpc_port = grpc.local_addr().expect("an address").port();
    let interface = |url: String, binding: &str| json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0"});
    let capabilities = json!({"streaming": true, "pushNotifications": true});
    let card: AgentCard = from(json!({
        "name": "rust", "description": "answers with its question", "version": "1.0.0",
        "supportedInterfaces": [
            interface(format!("http://127.0.0.1:{port}/rpc"), "JSONRPC"),
            interface(format!("http://127.0.0.1:{port}/rest"), "HTTP+JSON"),
            interface(format!("127.0.0.1:{grpc_port}"), "GRPC")],
        "capabilities": capabilities, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [],
    }));
    let handler = Arc::new(
        DefaultRequestHandler::new(Echo, InMemoryTaskStore::new())
            .with_push_config_store(InMemoryPushConfigStore::new())
            .with_capabilities(from(capabilities)),
    );
    let app = axum::Router::new()
        .nest("/rpc", a2a_server::jsonrpc::jsonrpc_router(handler.clone()))
        .nest("/rest", a2a_server::rest::rest_router(handler.clone()))
        .merge(a2a_server::agent_card::agent_card_router(Arc::new(StaticAgentCard::new(card))));
    println!("{port}");
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    tokio::spawn(
        tonic::transport::Server::builder()
            .add_service(A2aServiceServer::new(GrpcHandler::new(handler)))
            .serve_with_incoming(tonic::transport::server::TcpIncoming::from(grpc)),
    );
    axum::serve(listener, app).await.expect("a server");
}

fn from<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a value of this type")
}

fn to(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("JSON")
}

type Client = A2AClient<Box<dyn Transport>>;

/** How long a check may take. */
const CHECK_SECONDS: u64 = 15;

async fn check(name: &str, work: impl Future<Output = Result<Value, A2AError>>) {
    let got = match tokio::time::timeout(Duration::from_secs(CHECK_SECONDS), work).await {
        Ok(Ok(value)) => value,
        Ok(Err(error)) => json!(format!("error: {}", error.message)),
        Err(_) => json!("error: timeout"),
    };
    println!("{}", json!({"check": name, "got": got}));
}

fn said(text: &str, wait: bool) -> SendMessageRequest {
    let message = json!({"messageId": uuid::Uuid::new_v4().to_string(), "role": "ROLE_USER", "parts": [{"text": text}]});
    from(json!({"message": message, "configuration": {"returnImmediately": !wait}}))
}

fn answer_of(task: &a2a::Task) -> String {
    task.artifacts.iter().flatten().map(|artifact| text_of(&artifact.parts)).collect()
}

async fn task_of(client: &Client, text: &str, wait: bool) -> Result<a2a::Task, A2AError> {
    match client.send_message(&said(text, wait)).await? {
        SendMessageResponse::Task(task) => Ok(task),
        SendMessageResponse::Message(_) => Err(A2AError::internal("a message instead of a task")),
    }
}

async fn call(url: &str, binding: &str) -> Result<(), A2AError> {
    let mut card = AgentCardResolver::new(None).resolve(url).await?;
    card.supported_interfaces.retain(|each| each.protocol_binding == binding && each.protocol_version == "1.0");
    let factory = A2AClientFactory::builder().register(Arc::new(GrpcTransportFactory::new())).build();
    let client = factory.create_from_card(&card).await?;
    let client = &client;
    check("send", async { Ok(json!(answer_of(&task_of(client, "hello", true).await?))) }).await;
    check("stream", async {
        let mut streamed = String::new();
        let mut events = client.send_streaming_message(&said("stream", true)).await?;
        while let Some(event) = events.next().await {
            if let StreamResponse::ArtifactUpdate(update) = event? {
                streamed += &text_of(&update.artifact.parts);
            }
        }
        Ok(json!(streamed))
    })
    .await;
    check("get", async {
        let task = task_of(client, "hello", true).await?;
        Ok(json!(answer_of(&client.get_task(&from(json!({"id": task.id}))).await?)))
    })
    .await;
    check("list", async {
        let task = task_of(client, "hello", true).await?;
        let listed = client.list_tasks(&from(json!({"contextId": task.context_id}))).await?;
        Ok(json!(listed.tasks.iter().any(|each| each.id == task.id)))
    })
    .await;
    check("cancel", async {
        let task = task_of(client, "wait", false).await?;
        Ok(to(client.cancel_task(&from(json!({"id": task.id}))).await?.status.state))
    })
    .await;
    check("subscribe", async {
        let task = task_of(client, "wait", false).await?;
        let mut events = client.subscribe_to_task(&from(json!({"id": task.id}))).await?;
        let mut last = Value::Null;
        let mut cancelled = false;
        while let Some(event) = events.next().await {
            match event? {
                StreamResponse::Task(task) => last = to(task.status.state),
                StreamResponse::StatusUpdate(update) => last = to(update.status.state),
                _ => {}
            }
            if !cancelled {
                cancelled = true;
                client.cancel_task(&from(json!({"id": task.id}))).await?;
            }
        }
        Ok(last)
    })
    .await;
    check("push", async {
        let task = task_of(client, "wait", false).await?;
        let hook = json!({"taskId": task.id, "id": "hook", "url": "https://example.com/hook"});
        let made = client.create_push_config(&from(hook)).await?;
        let id = made.id.unwrap_or_default();
        let got = client.get_push_config(&from(json!({"taskId": task.id, "id": id}))).await?;
        let listed = client.list_push_configs(&from(json!({"taskId": task.id}))).await?;
        client.delete_push_config(&from(json!({"taskId": task.id, "id": id}))).await?;
        let left = client.list_push_configs(&from(json!({"taskId": task.id}))).await?;
        client.cancel_task(&from(json!({"id": task.id}))).await?;
        Ok(json!([got.url, listed.configs.len(), left.configs.len()]))
    })
    .await;
    check("unknown", async {
        Ok(json!(match client.get_task(&from(json!({"id": "no-such-task"}))).await {
            Ok(_) => 0,
            Err(error) => error.code,
        }))
    })
    .await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), A2AError> {
    let args: Vec<String> = std::env::args().collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[1..] {
        ["call", url, binding] => call(url, binding).await,
        ["card", url] => {
            let card = AgentCardResolver::new(None).resolve(url).await?;
            println!("{}", json!({"check": "card", "got": card.name}));
            Ok(())
        }
        _ => {
            serve().await;
            Ok(())
        }
    }
}
