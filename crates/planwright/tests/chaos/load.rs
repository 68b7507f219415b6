//! The clients: one for each session, which sends one input after the other and repeats each until it is acknowledged.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::history::{Act, Attempt, Recorder};
use crate::http;
use crate::script::{Kind, Marker};
use crate::seed::Random;
use crate::server::{Addresses, SERVERS};

#[derive(Debug, Clone)]
pub(crate) struct Load {
    addresses: Addresses,
    recorder: Recorder,
    /// The clients begin nothing new.
    finishing: Arc<AtomicBool>,
    /// The clients give up what is not acknowledged.
    over: Arc<AtomicBool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Surface {
    Rest,
    WebSocket,
}

struct Client {
    load: Load,
    session: String,
    random: Random,
    inputs: u32,
}

pub(crate) fn session(index: usize) -> String {
    format!("chaos-{index:02}")
}

impl Load {
    pub(crate) fn new(addresses: Addresses, recorder: Recorder) -> Self {
        Self { addresses, recorder, finishing: Arc::default(), over: Arc::default() }
    }

    pub(crate) fn start(&self, seed: u64, sessions: usize) -> JoinSet<()> {
        let mut clients = JoinSet::new();
        for index in 0..sessions {
            let random = Random::new(seed, ("client", index));
            let client = Client { load: self.clone(), session: session(index), random, inputs: 0 };
            clients.spawn(client.run());
        }
        clients
    }

    pub(crate) fn finish(&self) {
        self.finishing.store(true, Ordering::Relaxed);
    }

    pub(crate) fn give_up(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Follows a session over a WebSocket, at another server whenever the connection breaks.
    pub(crate) async fn follow(self, session: String, seed: u64) {
        let mut random = Random::new(seed, ("follower", &session));
        while !self.over.load(Ordering::Relaxed) {
            let server = random.below(SERVERS as u64) as usize;
            if let Some(address) = self.addresses.of(server) {
                let _ = self.follow_at(address, &session).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn follow_at(&self, address: std::net::SocketAddr, session: &str) -> Option<()> {
        let mut socket = http::connect(address).await?;
        let after = self.recorder.last_frame(session);
        http::send_frame(&mut socket, &json!({ "type": "subscribe", "sessionId": session, "after": after })).await?;
        loop {
            let frame = http::next_frame(&mut socket).await?;
            if frame["type"] == "problem" {
                return None;
            }
            if frame.get("event").is_some() {
                self.recorder.frame(session, frame["seq"].as_u64()?, frame["type"].as_str()?);
            }
        }
    }
}

impl Client {
    async fn run(mut self) {
        let body = json!({ "sessionId": self.session });
        if self.rest(Act::OpenSession, "/api/sessions", &body).await.is_none() {
            return;
        }
        while !self.load.finishing.load(Ordering::Relaxed) {
            let pause = self.random.between(0, 60);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            let kinds = [Kind::Plain, Kind::Write, Kind::Write, Kind::Reports, Kind::Half, Kind::Silent];
            let kind = *self.random.pick(&kinds);
            self.input(kind).await;
        }
    }

    async fn input(&mut self, kind: Kind) -> Option<()> {
        self.inputs += 1;
        let marker = Marker { session: self.session.clone(), number: self.inputs, kind };
        if !kind.has_plan() {
            self.say(&marker).await?;
            return Some(());
        }
        let body = json!({ "sessionId": self.session });
        self.rest(Act::EnablePlanWork, "/api/plans/enable", &body).await?;
        let answer = self.say(&marker).await?;
        // An interrupted turn shows no plan.
        let plan = answer["plan"]["planId"].as_str()?.to_owned();
        let body = json!({ "digest": answer["plan"]["digest"], "sessionId": self.session, "note": marker.to_string() });
        let path = format!("/api/plans/{plan}/approve");
        self.rest(Act::Approve { plan }, &path, &body).await?;
        Some(())
    }

    async fn say(&mut self, marker: &Marker) -> Option<Value> {
        let surface = if self.random.one_in(4) { Surface::WebSocket } else { Surface::Rest };
        let path = format!("/api/sessions/{}/messages", self.session);
        let text = marker.text();
        let body = json!({ "text": text });
        self.carry_out(Act::Say { text }, surface, &path, &body).await
    }

    async fn rest(&mut self, act: Act, path: &str, body: &Value) -> Option<Value> {
        self.carry_out(act, Surface::Rest, path, body).await
    }

    /// Sends a request until it is acknowledged, at any server and sometimes at both at once.
    async fn carry_out(&mut self, act: Act, surface: Surface, path: &str, body: &Value) -> Option<Value> {
        let key = format!("{}-{:x}", self.session, self.random.number());
        let request = self.load.recorder.begin(&self.session, act, &key);
        while !self.load.over.load(Ordering::Relaxed) {
            let first = self.random.below(SERVERS as u64) as usize;
            let mut servers = vec![first];
            if self.random.one_in(4) {
                servers.push((first + 1) % SERVERS);
            }
            let addresses = servers.iter().filter_map(|server| self.load.addresses.of(*server));
            let attempts: Vec<_> = addresses
                .map(|address| {
                    let (session, key) = (&self.session, &key);
                    async move {
                        match surface {
                            Surface::Rest => http::post(address, path, key, body).await,
                            Surface::WebSocket => {
                                let text = body["text"].as_str().unwrap_or_default();
                                http::say(address, session, text, key).await
                            }
                        }
                    }
                })
                .collect();
            let mut acknowledged = None;
            for attempt in futures::future::join_all(attempts).await {
                if let Attempt::Answered { status: 200 | 201, body } = &attempt {
                    acknowledged = Some(body.clone());
                }
                self.load.recorder.attempted(request, attempt);
            }
            if acknowledged.is_some() {
                return acknowledged;
            }
            let pause = self.random.between(50, 250);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        None
    }
}
