//! The OpenAPI document of the REST calls, made from the handlers.

use planwright_core::ids::PlanId;
use planwright_core::refusal::{Problem as Detail, RefusalCode};
use planwright_core::session::ConversationKey;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::OpenApi;
use utoipa::{OpenApi as _, PartialSchema, ToSchema};

use super::idempotency;

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Planwright",
        description = "A planning runtime for LLM agents: an agent that works with it works by a plan that a person has \
                       seen and approved. Refusals are `application/problem+json` with a `code` that programs rely on.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    tags(
        (name = "sessions", description = "Conversations, and everything that happened in them"),
        (name = "messages", description = "What is said in a conversation"),
        (name = "plans", description = "Plan work, plans, and decisions about them"),
        (name = "workbook", description = "The task plan, the findings and the progress of a session"),
        (name = "memory", description = "What a session remembers"),
        (name = "inbox", description = "What waits for a person"),
        (name = "approvers", description = "Who may approve, and what an approval needs"),
        (name = "server", description = "The server itself")
    ),
    components(schemas(ProblemBody))
)]
struct About;

/// Why a request was refused.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem, example = json!(problem_example()))]
pub(crate) struct ProblemBody {
    title: String,
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    code: RefusalCode,
    /// For people.
    detail: String,
    /// Every invalid value, where there can be several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<Detail>,
    /// The current plan, where that helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    plan: Option<Value>,
    /// The newest version of a document, if the request was made from an older one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    document: Option<Value>,
}

/// The description of these calls as it is served, in JSON.
pub(super) fn describe(calls: OpenApi) -> String {
    let mut whole = About::openapi();
    whole.merge(calls);
    let mut value = serde_json::to_value(&whole).unwrap_or_default();
    complete(&mut value);
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

/// Adds what all calls have in common.
fn complete(document: &mut Value) {
    document["components"]["securitySchemes"] = json!({
        "token": { "type": "http", "scheme": "bearer", "description": "The access token" },
        "cookie": {
            "type": "apiKey",
            "in": "cookie",
            "name": "planwright_7717",
            "description": "The cookie of a browser that signed in; its name contains the port of the server",
        },
    });
    document["security"] = json!([{ "token": [] }, { "cookie": [] }]);
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for (path, calls) in paths.iter_mut() {
        for (method, call) in calls.as_object_mut().into_iter().flatten() {
            complete_call(path, method, call);
        }
    }
}

fn complete_call(path: &str, method: &str, call: &mut Value) {
    let parameters = call["parameters"].as_array().cloned().unwrap_or_default();
    // Parameters of the path come first.
    let mut all = path_parameters(path);
    all.extend(parameters);
    for parameter in all.iter_mut().filter(|parameter| parameter["name"] == "id") {
        // An id that says nothing else looks like every id.
        if parameter["schema"] == json!({ "type": "string" }) {
            parameter["schema"] = schema_of::<PlanId>();
        }
    }
    let mut refusals = vec![
        ("400", "The request is invalid"),
        ("401", "The token is missing or wrong"),
        ("403", "The request is not allowed, from this origin or at all"),
        ("421", "The server does not have this host name"),
        ("429", "Too many requests"),
        ("500", "Internal error"),
        ("503", "Not available"),
    ];
    if matches!(method, "post" | "put" | "patch") {
        refusals.extend([
            ("408", "The body did not arrive in time"),
            ("409", "Conflict with the current state"),
            ("413", "The request is too large"),
        ]);
        if call["requestBody"]["content"].get("application/json").is_some() {
            refusals.push(("415", "The body is not sent as JSON"));
        }
    }
    if method == "post" {
        all.push(idempotency_key());
        refusals.push(("422", "The key was used for another request"));
        let replayed = json!({
            "description": "The answer is that of an earlier request with the same key",
            "schema": { "type": "string", "enum": ["true"] },
        });
        for (status, answer) in call["responses"].as_object_mut().into_iter().flatten() {
            if status.starts_with('2') {
                answer["headers"][idempotency::REPLAYED] = replayed.clone();
            }
        }
    }
    if !all.is_empty() {
        call["parameters"] = Value::Array(all);
    }
    for (status, description) in refusals {
        if call["responses"].get(status).is_none() {
            call["responses"][status] = json!({ "description": description });
        }
    }
    call.get_mut("requestBody").into_iter().for_each(may_be_left_out);
    let problem = json!({ "application/problem+json": { "schema": { "$ref": "#/components/schemas/Problem" } } });
    for (status, answer) in call["responses"].as_object_mut().into_iter().flatten() {
        if status.starts_with(['4', '5']) {
            answer["content"] = problem.clone();
        }
    }
}

/// An optional body is left out or an empty object; it is never `null`. A file may be empty.
fn may_be_left_out(body: &mut Value) {
    if body["content"].get("application/octet-stream").is_some() {
        body["required"] = json!(false);
    }
    let schema = body.pointer_mut("/content/application~1json/schema");
    let Some(schema) = schema.filter(|schema| schema.get("oneOf").is_some()) else { return };
    let choices = schema["oneOf"].take();
    let schema_given = choices.as_array().and_then(|choices| choices.iter().find(|choice| choice["type"] != "null"));
    *schema = schema_given.cloned().unwrap_or_default();
    body["required"] = json!(false);
}

/// What is in the path of a call about a session or a plan. What is not a plan describes its own id.
fn path_parameters(path: &str) -> Vec<Value> {
    let session = path.contains("{sessionId}");
    let plan = path.starts_with("/api/plans/{id}");
    let parameter = |name: &str, description: &str, schema: Value| json!({ "name": name, "in": "path", "required": true, "description": description, "schema": schema });
    let of_session = parameter("sessionId", "The key of the conversation", schema_of::<ConversationKey>());
    let of_plan = "The id of the plan or, with `sessionId`, its number or a piece of its id";
    let of_plan = parameter("id", of_plan, schema_of::<PlanId>());
    [(session, of_session), (plan, of_plan)].into_iter().filter_map(|(is_there, one)| is_there.then_some(one)).collect()
}

fn schema_of<T: PartialSchema>() -> Value {
    let mut schema = serde_json::to_value(T::schema()).unwrap_or_default();
    schema.as_object_mut().and_then(|fields| fields.remove("description"));
    schema
}

fn idempotency_key() -> Value {
    json!({
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "A name for this request. Sent again with the same name, it is not carried out again and gets the \
                        same answer, for 24 hours.",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": idempotency::MAX_KEY,
            "pattern": "^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$",
        },
    })
}

fn problem_example() -> Value {
    json!({
        "title": "Not found",
        "status": 404,
        "code": "NOT_FOUND",
        "detail": "There is no plan 'abcdefgh' here.",
    })
}
