//! The dashboard: static files that were built from `dashboard/` and are part of the program. Every page is the same file;
//! its script reads the address. A build without Node has none, and shows the start page instead.

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::{page_headers, start};
use crate::http::app::App;

struct DashboardFile {
    path: &'static str,
    media_type: &'static str,
    plain: &'static [u8],
    brotli: Option<&'static [u8]>,
    gzip: Option<&'static [u8]>,
}

static FILES: &[DashboardFile] = &include!(concat!(env!("OUT_DIR"), "/dashboard_files.rs"));

/// The name of a file below it contains a hash of its content.
const ASSETS: &str = "/assets/";

pub(super) fn router() -> Router<App> {
    let mut router = Router::new()
        .route("/", get(show))
        .route("/settings", get(show))
        .route("/s/{*rest}", get(show))
        .route("/p/{*rest}", get(show))
        .route("/assets/{*file}", get(asset));
    for path in ["/manifest.webmanifest", "/icon-192.png", "/icon-512.png", "/sw.js"] {
        router = router.route(path, get(async move |headers: HeaderMap| file(path, &headers)));
    }
    router
}

/// Whether this build has it.
pub(crate) fn is_built() -> bool {
    find("/index.html").is_some()
}

async fn show(State(app): State<App>, admitted: Option<start::SignedIn>, headers: HeaderMap) -> Response {
    match find("/index.html") {
        Some(page) => send_page(page, &headers),
        None => start::show(State(app), admitted, headers).await,
    }
}

/// Below these are no pages: what is not there is said to programs.
const NO_PAGES: [&str; 4] = ["/api", "/assets", "/mcp", "/ws"];

/// The dashboard for a browser that opens a path that does not exist; the page says so.
pub(crate) fn for_unknown_path(request: &Request) -> Option<Response> {
    let accepted = request.headers().get(header::ACCEPT)?.to_str().ok()?;
    let wants_page = accepted.split([',', ';']).any(|kind| kind.trim().eq_ignore_ascii_case("text/html"));
    let path = request.uri().path();
    let has_pages = !NO_PAGES.iter().any(|start| path.strip_prefix(start).is_some_and(is_whole_segment));
    if !wants_page || !has_pages || !matches!(*request.method(), Method::GET | Method::HEAD) {
        return None;
    }
    let mut response = send_page(find("/index.html")?, request.headers());
    *response.status_mut() = StatusCode::NOT_FOUND;
    Some(response)
}

fn is_whole_segment(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}

fn send_page(page: &'static DashboardFile, headers: &HeaderMap) -> Response {
    let mut response = send(page, headers);
    response.headers_mut().extend(page_headers());
    // A new version of the program has other assets.
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let mut response = file(&format!("{ASSETS}{name}"), &headers);
    if response.status().is_success() {
        let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
        response.headers_mut().insert(header::CACHE_CONTROL, forever);
    }
    response
}

fn file(path: &str, headers: &HeaderMap) -> Response {
    find(path).map_or_else(|| StatusCode::NOT_FOUND.into_response(), |file| send(file, headers))
}

fn find(path: &str) -> Option<&'static DashboardFile> {
    FILES.iter().find(|file| file.path == path)
}

/// In the smallest form that the client reads.
fn send(file: &'static DashboardFile, headers: &HeaderMap) -> Response {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let accepts = |name: &str| accepted.split(',').map(str::trim).any(|coding| is_accepted(coding, name));
    let (encoding, bytes) = match (file.brotli, file.gzip) {
        (Some(bytes), _) if accepts("br") => (Some("br"), bytes),
        (_, Some(bytes)) if accepts("gzip") => (Some("gzip"), bytes),
        _ => (None, file.plain),
    };
    let fixed = [
        (header::CONTENT_TYPE, HeaderValue::from_static(file.media_type)),
        (header::VARY, HeaderValue::from_static("accept-encoding")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    let encoding = encoding.map(|name| [(header::CONTENT_ENCODING, HeaderValue::from_static(name))]);
    match encoding {
        Some(encoding) => (fixed, encoding, bytes).into_response(),
        None => (fixed, bytes).into_response(),
    }
}

/// `br;q=0` refuses it.
fn is_accepted(coding: &str, name: &str) -> bool {
    let (found, quality) = coding.split_once(';').unwrap_or((coding, ""));
    let refused = quality.trim().strip_prefix("q=").is_some_and(|value| value.trim().parse::<f32>() == Ok(0.0));
    found.trim().eq_ignore_ascii_case(name) && !refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coding_is_accepted_unless_it_is_refused() {
        for (coding, expected) in
            [("br", true), ("BR", true), ("br;q=0.5", true), ("br;q=0", false), ("gzip", false), ("", false)]
        {
            assert_eq!(is_accepted(coding, "br"), expected, "{coding}");
        }
    }

    /// A file that a browser keeps for ever has a name of its own for every content.
    #[test]
    fn what_is_kept_for_ever_has_its_hash_in_its_name() {
        for file in FILES.iter().filter(|file| file.path.starts_with(ASSETS)) {
            let stem = file.path.rsplit_once('.').map_or(file.path, |(stem, _)| stem);
            assert!(stem.len() > 8 && stem.as_bytes()[stem.len() - 9] == b'-', "{}", file.path);
        }
    }

    #[test]
    fn the_page_has_nothing_inline() {
        let Some(page) = find("/index.html") else { return };
        let page = std::str::from_utf8(page.plain).unwrap();
        for inline in ["<style", "style=", "onclick", "onload", "javascript:", "<script>"] {
            assert!(!page.contains(inline), "{inline} does not work under the policy");
        }
    }
}
