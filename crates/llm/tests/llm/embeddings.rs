//! Memories found by meaning: a real store, the real engine and an embeddings server on a port of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use planwright_agent::tools::PlanTools;
use planwright_core::actor::Actor;
use planwright_core::memory::ranking::Factor;
use planwright_core::memory::{NewMemory, ScopeChain};
use planwright_core::policy::Policy;
use planwright_core::session::SessionIdentity;
use planwright_engine::Engine;
use planwright_llm::{ModelChoice, connect_embeddings};
use planwright_store::Location;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// Texts about the same thing have the same direction.
fn vector(text: &str) -> Value {
    let about = |words: &[&str]| words.iter().any(|word| text.to_lowercase().contains(word));
    if about(&["cat", "kitten", "pet"]) {
        json!([1.0, 0.1, 0.0])
    } else if about(&["invoice", "bill"]) {
        json!([0.0, 1.0, 0.1])
    } else {
        json!([0.0, 0.1, 1.0])
    }
}

struct Service {
    address: String,
    /// How many texts were sent.
    texts: Arc<AtomicUsize>,
    broken: Arc<AtomicBool>,
}

impl Service {
    async fn start() -> Self {
        let (texts, broken) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counting, breaking) = (Arc::clone(&texts), Arc::clone(&broken));
        let answer = move |Json(body): Json<Value>| async move {
            assert_eq!(body["model"], "text-embedding-test");
            if breaking.load(Ordering::Relaxed) {
                return (StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "error": { "message": "no capacity" } })));
            }
            let texts = body["input"].as_array().unwrap();
            counting.fetch_add(texts.len(), Ordering::Relaxed);
            let one =
                |(index, text): (usize, &Value)| json!({ "index": index, "embedding": vector(text.as_str().unwrap()) });
            // The order of the answer need not be that of the texts.
            let data: Vec<_> = texts.iter().enumerate().map(one).rev().collect();
            (StatusCode::OK, Json(json!({ "object": "list", "data": data })))
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/embeddings", post(answer));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, texts, broken }
    }

    async fn engine(&self, folder: &tempfile::TempDir) -> Engine {
        let choice: ModelChoice = "openai:text-embedding-test".parse().unwrap();
        let address = self.address.clone();
        let lookup = move |name: &str| (name == "OPENAI_BASE_URL").then(|| address.clone());
        let model = connect_embeddings(&choice, lookup).unwrap();
        let location = Location::Sqlite(folder.path().join("planwright.db"));
        Engine::new(planwright_store::open(&location).await.unwrap(), Policy::default()).with_embeddings(model)
    }
}

fn session(name: &str) -> SessionIdentity {
    name.parse().unwrap()
}

async fn save(engine: &Engine, name: &str, content: &str) {
    let ada = Actor::person("ada", "cli");
    engine.sessions().open(&session(name), &ada).await.unwrap();
    engine.memories().save(&session(name), &ada, NewMemory::by_person(content)).await.unwrap();
}

const ONE: &str = "cli:session-one";
const TWO: &str = "cli:session-two";

#[tokio::test]
async fn memories_are_found_by_meaning_beside_their_words() {
    let (service, folder) = (Service::start().await, tempfile::tempdir().unwrap());
    let engine = service.engine(&folder).await;
    save(&engine, ONE, "Ada has a kitten called Mina.").await;
    save(&engine, ONE, "The invoice goes to Berlin.").await;
    save(&engine, ONE, "It rains in November.").await;
    save(&engine, TWO, "Bob has a cat as well.").await;
    let chain = ScopeChain::of_session(&session(ONE));
    // Not a word of the question is in the item.
    let search = engine.memories().search(&chain, "which pets live there", 2).await.unwrap();
    assert_eq!((search.found[0].item.content.as_str(), &search.note), ("Ada has a kitten called Mina.", &None));
    let shares = &search.found[0].shares;
    assert!(matches!(shares.as_slice(), [(Factor::Meaning, share), (Factor::Scope, _)] if *share > 0.0), "{shares:?}");
    assert!(search.found.iter().all(|found| !found.item.content.contains("Bob")));
    assert_eq!(service.texts.load(Ordering::Relaxed), 4, "the question and three items");
    // Vectors are kept: only the question is sent, also by the next process.
    let engine = service.engine(&folder).await;
    let search = engine.memories().search(&chain, "the bill for Berlin", 3).await.unwrap();
    assert_eq!(search.found[0].item.content, "The invoice goes to Berlin.");
    let (sum, score) = (search.found[0].shares.iter().map(|(_, share)| share).sum::<f64>(), search.found[0].score);
    assert!((sum - score).abs() < 1e-9 && search.found[0].shares.len() > 1, "{:?}", search.found[0]);
    assert_eq!(service.texts.load(Ordering::Relaxed), 5);
    // What is forgotten is not found by its meaning either.
    let mina = engine.memories().search(&chain, "kitten", 1).await.unwrap().found.remove(0).item;
    engine.memories().forget(&session(ONE), &Actor::person("ada", "cli"), mina.id).await.unwrap();
    let search = engine.memories().search(&chain, "which pets live there", 5).await.unwrap();
    assert!(search.found.iter().all(|found| !found.item.content.contains("Mina")));
    assert!(engine.verifier().verify_all(|_| ()).await.unwrap().is_whole());
}

#[tokio::test]
async fn a_service_that_fails_leaves_the_words_and_a_note() {
    let (service, folder) = (Service::start().await, tempfile::tempdir().unwrap());
    let engine = service.engine(&folder).await;
    save(&engine, ONE, "Ada has a kitten called Mina.").await;
    let chain = ScopeChain::of_session(&session(ONE));
    service.broken.store(true, Ordering::Relaxed);
    for _ in 0..2 {
        let search = engine.memories().search(&chain, "the kitten", 5).await.unwrap();
        assert_eq!(search.found.len(), 1, "found by its words");
        let note = search.note.unwrap();
        assert!(note.contains("openai:text-embedding-test failed") && note.contains("503"), "{note}");
    }
    service.broken.store(false, Ordering::Relaxed);
    // It is left alone for a while, and another process asks it at once.
    assert!(engine.memories().search(&chain, "the kitten", 5).await.unwrap().note.is_some());
    assert_eq!(service.texts.load(Ordering::Relaxed), 0);
    let search = service.engine(&folder).await.memories().search(&chain, "pets", 5).await.unwrap();
    assert_eq!((search.found.len(), search.note), (1, None));
}

/// The agent is told that only words were compared, so that it can ask in other words.
#[tokio::test]
async fn the_answer_of_the_tool_says_that_only_words_were_compared() {
    let (service, folder) = (Service::start().await, tempfile::tempdir().unwrap());
    let search = async |engine: &Engine, query: &str| {
        let arguments = json!({ "query": query }).as_object().unwrap().clone();
        PlanTools::new(engine)
            .call(&session(ONE), &Actor::agent("the agent", "cli"), "memory_search", arguments)
            .await
            .unwrap()
    };
    let engine = service.engine(&folder).await;
    save(&engine, ONE, "Ada has a kitten called Mina.").await;
    let answer = search(&engine, "which pets live there").await;
    assert_eq!((answer["items"].as_array().unwrap().len(), answer.get("note")), (1, None), "{answer}");
    service.broken.store(true, Ordering::Relaxed);
    for (query, found) in [("which pets live there", 0), ("the kitten", 1)] {
        let answer = search(&engine, query).await;
        assert_eq!(answer["items"].as_array().unwrap().len(), found, "{answer}");
        let note = answer["note"].as_str().unwrap();
        assert!(note.starts_with("The embedding model openai:text-embedding-test failed"), "{note}");
        assert!(note.contains("by their words only"), "{note}");
    }
}

#[tokio::test]
async fn a_session_without_memories_sends_nothing() {
    let (service, folder) = (Service::start().await, tempfile::tempdir().unwrap());
    let engine = service.engine(&folder).await;
    engine.sessions().open(&session(ONE), &Actor::person("ada", "cli")).await.unwrap();
    let search = engine.memories().search(&ScopeChain::of_session(&session(ONE)), "pets", 5).await.unwrap();
    assert!(search.found.is_empty() && search.note.is_none());
    assert_eq!(service.texts.load(Ordering::Relaxed), 0);
}

#[test]
fn only_openai_makes_embeddings_and_its_own_service_needs_a_key() {
    for (choice, words) in [("anthropic:claude", "openai:MODEL"), ("openai:text-embedding-3-small", "OPENAI_API_KEY")] {
        let refused = connect_embeddings(&choice.parse().unwrap(), |_| None).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}");
    }
}
