//! The extractors of the handlers. An invalid value is a problem that names it.
//!
//! - [`Body`]: JSON; [`Query`]: the query string; [`Path`]: the parameters of a route
//! - `body_limits`: the size and duration of a body
//! - `nesting`: how deep JSON is nested, determined before it is parsed
//! - `parse_error`: messages of the parsing libraries in plain words

pub(super) mod body_limits;
mod nesting;
mod parse_error;

use std::fmt;
use std::marker::PhantomData;

use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use planwright_core::refusal::{Problem as Detail, Refusal};
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_path_to_error::Segment;

use self::body_limits::BodyLimits;
use self::parse_error::explain;
use super::problem::{ApiProblem, ApiResult};

/// JSON with its content type. An empty body is an empty object.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiProblem;

    async fn from_request(request: Request, _: &S) -> ApiResult<Self> {
        let is_json = sent_as_json(request.headers());
        let depth = BodyLimits::of(&request).json_depth;
        let bytes = read_body(request).await?;
        if bytes.is_empty() {
            return from_json(b"{}", depth).map(Self);
        }
        if !is_json {
            let refusal =
                Refusal::invalid("the body is JSON, and is sent with the header content-type: application/json");
            return Err(ApiProblem::new(refusal).with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        from_json(&bytes, depth).map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Query<T> {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        match axum::extract::Query::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(QueryRejection::FailedToDeserializeQueryString(error)) => {
                let message = innermost(&error);
                Err(Refusal::invalid(match message.split_once(": ").filter(|(name, _)| is_name(name)) {
                    Some((name, message)) => format!("the query parameter `{name}` is invalid: {}", explain(message)),
                    None => format!("the query is invalid: {}", explain(&message)),
                })
                .into())
            }
            Err(_) => Err(Refusal::invalid("the query is invalid").into()),
        }
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = ApiProblem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => {
                Err(Refusal::invalid(format!("the path is invalid: {}", explain(&innermost(&error)))).into())
            }
            Err(_) => Err(Refusal::invalid("the path is invalid").into()),
        }
    }
}

/// A part of a body that is an object. The parser alone would take a list for its fields, in the order of their declaration.
#[derive(Debug)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, fields: M) -> Result<T, M::Error> {
                T::deserialize(MapAccessDeserializer::new(fields))
            }
        }
        deserializer.deserialize_map(Fields(PhantomData)).map(Self)
    }
}

/// Reads the whole body.
pub(crate) async fn read_body(request: Request) -> ApiResult<Bytes> {
    let limit = BodyLimits::of(&request).body_bytes;
    body_limits::read(request.into_body(), limit).await
}

/// Parses a body that has been read.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8], depth: usize) -> ApiResult<T> {
    if nesting::is_deeper_than(bytes, depth) {
        return Err(Refusal::invalid(format!("the body is nested more than {depth} deep")).into());
    }
    // The parser would take a list for the fields of an object, in the order of their declaration.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Refusal::invalid("the body is a list, and not a JSON object").into());
    }
    match typed(bytes) {
        // JSON has one kind of number: 15.0 is the whole number 15.
        Err(ParseFailure::Type(error)) if error.inner().to_string().contains("floating point") => {
            let same = with_whole_numbers(bytes).map_or(Err(ParseFailure::Type(error)), |bytes| typed(&bytes));
            same.map_err(ParseFailure::into_problem)
        }
        parsed => parsed.map_err(ParseFailure::into_problem),
    }
}

enum ParseFailure {
    Type(serde_path_to_error::Error<serde_json::Error>),
    TextAfterwards(serde_json::Error),
}

fn typed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ParseFailure> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(ParseFailure::Type)?;
    reader.end().map_err(ParseFailure::TextAfterwards)?;
    Ok(value)
}

impl ParseFailure {
    fn into_problem(self) -> ApiProblem {
        let error = match self {
            Self::Type(error) => error,
            Self::TextAfterwards(error) => {
                return Refusal::invalid(format!("the body has text after the JSON value: {error}")).into();
            }
        };
        let path = pointer(error.path());
        let broken = error.inner().is_syntax() || error.inner().is_eof();
        let message = error.inner().to_string();
        let message = if broken { format!("it is not JSON: {message}") } else { explain(&message) };
        let place = if path.is_empty() { "the body".to_owned() } else { path.clone() };
        let details = vec![Detail::new(path, message.clone())];
        Refusal::invalid(format!("{place} is invalid: {message}")).with_problems(details).into()
    }
}

/// Writes whole numbers in JSON as such; `None` if it is not JSON.
fn with_whole_numbers(bytes: &[u8]) -> Option<Vec<u8>> {
    fn rewrite(value: &mut Value) {
        match value {
            Value::Number(number) => {
                // Above this, neighbouring whole numbers are the same float.
                let whole = number.as_f64().filter(|n| number.is_f64() && n.fract() == 0.0 && n.abs() < 9e15);
                if let Some(whole) = whole {
                    *number = (whole as i64).into();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(rewrite),
            Value::Object(fields) => fields.values_mut().for_each(rewrite),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    let mut value = serde_json::from_slice(bytes).ok()?;
    rewrite(&mut value);
    serde_json::to_vec(&value).ok()
}

fn sent_as_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_TYPE).into_iter();
    let (Some(value), None) = (values.next(), values.next()) else { return false };
    let Ok(value) = value.to_str() else { return false };
    let kind = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// A path as a JSON pointer.
fn pointer(path: &serde_path_to_error::Path) -> String {
    path.iter().fold(String::new(), |mut text, segment| {
        text.push('/');
        match segment {
            Segment::Seq { index } => text.push_str(&index.to_string()),
            Segment::Map { key } => text.push_str(&key.replace('~', "~0").replace('/', "~1")),
            Segment::Enum { variant } => text.push_str(variant),
            Segment::Unknown => text.push('?'),
        }
        text
    })
}

/// A message about one parameter begins with its name.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The message of the original error.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
