//! Servers that are reached over HTTP.

use std::collections::HashMap;
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

/// The longest message that is read from a stream of events.
const MAX_EVENT: usize = 64 * 1024 * 1024;
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// No redirect is followed: it could carry the person's headers to another place.
pub(crate) fn transport(
    url: &str,
    headers: &[(String, String)],
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIME)
        .user_agent(concat!("planwright/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("no HTTP client can be made: {error}"))?;
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let parsed = name.parse::<HeaderName>().map_err(|_| format!("{name:?} is not the name of a header"))?;
        let mut value = value.parse::<HeaderValue>().map_err(|_| format!("the header {name} has an invalid value"))?;
        value.set_sensitive(true);
        custom.insert(parsed, value);
    }
    let config =
        StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom).max_sse_event_size(MAX_EVENT);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
