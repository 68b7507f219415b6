//! The description of the calls: current, whole, and true to what they answer.

use std::path::Path;

use serde_json::{Value, json};

use crate::world::World;

fn document() -> Value {
    serde_json::from_str(planwright_surfaces::http::description()).unwrap()
}

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, calls)| {
        let calls = calls.as_object().unwrap().iter();
        calls.map(move |(method, call)| (method.clone(), path.clone(), call.clone()))
    });
    all.collect()
}

#[test]
fn the_committed_description_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openapi.json");
    let current = planwright_surfaces::http::description();
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(&path, current).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == current,
        "openapi.json is not what the handlers say; renew it with \
         `UPDATE_OPENAPI=1 cargo test -p planwright-surfaces --test api openapi`"
    );
}

#[test]
fn every_call_says_what_it_takes_and_what_it_answers() {
    let document = document();
    assert_eq!(document["info"]["title"], "Planwright");
    assert_eq!(document["info"]["license"]["name"], "Apache-2.0");
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(document["security"], json!([{ "token": [] }, { "cookie": [] }]));
    let operations = operations(&document);
    assert!(operations.len() >= 21, "{}", operations.len());
    for (method, path, call) in operations {
        let what = format!("{method} {path}");
        assert!(call["summary"].as_str().is_some_and(|expected| !expected.is_empty()), "{what} has no summary");
        assert!(call["security"].is_null(), "{what} has doors of its own");
        for (status, answer) in call["responses"].as_object().unwrap() {
            if status.starts_with(['4', '5']) {
                let schema = &answer["content"]["application/problem+json"]["schema"]["$ref"];
                assert_eq!(schema, "#/components/schemas/Problem", "{what} {status}");
            } else if status == "200" || status == "201" {
                let mut contents = answer["content"].as_object().unwrap().values();
                assert!(contents.all(|content| !content["example"].is_null()), "{what} {status} has no example");
            }
        }
        for status in ["400", "401", "403", "429", "500", "503"] {
            assert!(!call["responses"][status].is_null(), "{what} does not say {status}");
        }
        let parameters = call["parameters"].as_array().cloned().unwrap_or_default();
        assert_eq!(method == "post", parameters.iter().any(|there| there["name"] == "Idempotency-Key"), "{what}");
        assert_eq!(path.contains('{'), parameters.iter().any(|there| there["in"] == "path"), "{what}");
    }
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let reference = format!("#/components/schemas/{name}");
        assert!(planwright_surfaces::http::description().contains(&reference), "nothing answers with {name}: {schema}");
    }
}

#[test]
fn what_is_taken_in_bodies_is_exact() {
    let document = document();
    for (method, path, call) in operations(&document) {
        let Some(body) = call.get("requestBody") else { continue };
        // A file is taken as it is.
        if body["content"].as_object().unwrap().keys().eq(["application/octet-stream"]) {
            continue;
        }
        let schema = body["content"]["application/json"]["schema"].to_string();
        let name = schema.split("#/components/schemas/").nth(1).and_then(|rest| rest.split('"').next());
        let name = name.unwrap_or_else(|| panic!("{method} {path}: {schema}"));
        assert!(!schema.contains("null"), "{method} {path}: {schema}");
        assert_eq!(document["components"]["schemas"][name]["additionalProperties"], false, "{name}");
        assert!(!document["components"]["schemas"][name]["example"].is_null(), "{name}");
    }
}

#[tokio::test]
async fn the_description_is_served() {
    let world = World::new([]).await;
    let came = world.get("/api/openapi.json").await;
    assert_eq!((came.status.as_u16(), came.text.as_str()), (200, planwright_surfaces::http::description()));
}
