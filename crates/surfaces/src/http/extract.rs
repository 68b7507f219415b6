//! What handlers take out of a request. Whatever is wrong with it is a problem that says where.
//!
//! - [`Body`]: JSON; [`Query`]: what follows the question mark; [`Path`]: the places held open in a route
//! - `nesting`: how deep JSON goes, found out before it is read
//! - `intake`: a body that is not too large and not too slow

pub(super) mod intake;
mod nesting;

use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use planwright_core::refusal::{Problem as Detail, Refusal};
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;

use self::intake::Intake;
use super::problem::{Answered, Problem};

/// JSON, sent as such. No body at all is an empty object.
#[derive(Debug)]
pub(crate) struct Body<T>(pub(crate) T);

#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Answered<Self> {
        let is_json = sent_as_json(request.headers());
        let depth = Intake::of(&request).json_depth;
        let bytes = whole(request).await?;
        if bytes.is_empty() {
            return from_json(b"{}", depth).map(Self);
        }
        if !is_json {
            let refusal =
                Refusal::invalid("the body is JSON, and is sent with the header content-type: application/json");
            return Err(Problem::new(refusal).with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
        }
        from_json(&bytes, depth).map(Self)
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answered<Self> {
        match axum::extract::Query::from_request_parts(parts, state).await {
            Ok(axum::extract::Query(value)) => Ok(Self(value)),
            Err(QueryRejection::FailedToDeserializeQueryString(error)) => {
                Err(Refusal::invalid(format!("the query cannot be understood: {}", innermost(&error))).into())
            }
            Err(_) => Err(Refusal::invalid("the query cannot be understood").into()),
        }
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Answered<Self> {
        match axum::extract::Path::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => {
                Err(Refusal::invalid(format!("the address cannot be understood: {}", innermost(&error))).into())
            }
            Err(_) => Err(Refusal::invalid("the address cannot be understood").into()),
        }
    }
}

/// The body as it was sent, read to its end.
pub(crate) async fn whole(request: Request) -> Answered<Bytes> {
    let limit = Intake::of(&request).body_bytes;
    intake::read(request.into_body(), limit).await
}

/// A value from the text of a body, for whoever has read it already.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8], depth: usize) -> Answered<T> {
    if nesting::is_deeper_than(bytes, depth) {
        return Err(Refusal::invalid(format!("the body is nested more than {depth} deep")).into());
    }
    // A list would be taken for the fields of an object, in the order they are written down here.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Refusal::invalid("the body is a list, and not a JSON object").into());
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = pointer(error.path());
        let message = error.inner().to_string();
        let place = if path.is_empty() { "the body".to_owned() } else { path.clone() };
        Refusal::invalid(format!("{place} cannot be understood: {message}"))
            .with_problems(vec![Detail::new(path, message)])
    })?;
    reader.end().map_err(|error| Refusal::invalid(format!("the body has something after its end: {error}")))?;
    Ok(value)
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

/// What is wrong, without the words of those that pass it on.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
