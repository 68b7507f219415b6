//! Pieces of files in a folder and in an S3-compatible storage, which is a small one of the test.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use planwright_core::refusal::RefusalCode;
use planwright_core::workspace::ContentHash;
use planwright_engine::shared_files::BlobStore;
use planwright_store::ObjectBlobs;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::commands::session;
use crate::contract::shared_files::pieces_are_kept_for_one_session_each;

const BUCKET: &str = "/bucket/";

/// The objects of the storage, by key.
type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// Serves until the test ends. Returns its address.
async fn storage(objects: &Objects) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let objects = Arc::clone(objects);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let objects = Arc::clone(&objects);
            tokio::spawn(async move { drop(serve(stream, &objects).await) });
        }
    });
    address
}

async fn serve(stream: TcpStream, objects: &Objects) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).await? == 0 {
                return Ok(());
            }
        }
        let header = |name: &str| {
            let found =
                head.lines().find_map(|line| line.split_once(": ").filter(|(key, _)| key.eq_ignore_ascii_case(name)));
            found.map(|(_, value)| value.to_owned())
        };
        let mut body = vec![0; header("content-length").map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).await?;
        let signature = header("authorization").unwrap_or_default();
        let mut words = head.split_whitespace();
        let (method, target) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
        let (status, answer) = if signature.starts_with("AWS4-HMAC-SHA256 Credential=a-key/") {
            answer(&method, &target, body, &mut objects.lock().unwrap())
        } else {
            ("403 Forbidden", Vec::new())
        };
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-length: {}\r\netag: \"1\"\r\nlast-modified: Sun, 01 Mar 2099 12:00:00 GMT\r\n\r\n",
            answer.len()
        );
        stream.write_all(head.as_bytes()).await?;
        if method != "HEAD" {
            stream.write_all(&answer).await?;
        }
        stream.flush().await?;
    }
}

fn answer(
    method: &str,
    target: &str,
    body: Vec<u8>,
    objects: &mut BTreeMap<String, Vec<u8>>,
) -> (&'static str, Vec<u8>) {
    let target = target.replace("%2B", "+");
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    if query.contains("list-type=2") {
        return ("200 OK", list(query, objects).into_bytes());
    }
    let key = path.strip_prefix(BUCKET).unwrap().to_owned();
    match method {
        "PUT" => {
            objects.insert(key, body);
            ("200 OK", Vec::new())
        }
        "GET" | "HEAD" => match objects.get(&key) {
            Some(content) => ("200 OK", content.clone()),
            None => ("404 Not Found", b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
        },
        "DELETE" => {
            objects.remove(&key);
            ("204 No Content", Vec::new())
        }
        other => panic!("{other} {target}"),
    }
}

fn list(query: &str, objects: &BTreeMap<String, Vec<u8>>) -> String {
    let parameter = |name: &str| {
        let found = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_default().replace("%2F", "/")
    };
    let (prefix, delimiter) = (parameter("prefix"), parameter("delimiter"));
    let mut text = String::from("<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>");
    let mut folders = Vec::new();
    for (key, content) in objects.iter().filter(|(key, _)| key.starts_with(&prefix)) {
        let folder = key[prefix.len()..].split_once('/').filter(|_| !delimiter.is_empty());
        match folder {
            Some((folder, _)) => folders.push(format!("{prefix}{folder}/")),
            None => text.push_str(&format!(
                "<Contents><Key>{key}</Key><Size>{}</Size><LastModified>2099-03-01T12:00:00.000Z</LastModified></Contents>",
                content.len()
            )),
        }
    }
    folders.dedup();
    for folder in folders {
        text.push_str(&format!("<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>"));
    }
    text + "</ListBucketResult>"
}

fn variables(endpoint: &str) -> Vec<(String, String)> {
    [
        ("AWS_ACCESS_KEY_ID", "a-key"),
        ("AWS_SECRET_ACCESS_KEY", "a-secret"),
        ("AWS_REGION", "nowhere"),
        ("AWS_ENDPOINT_URL", endpoint),
        ("AWS_OF_ANOTHER_PROGRAM", "left alone"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

#[tokio::test]
async fn pieces_in_a_storage_like_s3() {
    let objects = Objects::default();
    let endpoint = storage(&objects).await;
    let blobs = ObjectBlobs::in_s3("s3://bucket/planwright/files", variables(&endpoint)).unwrap();
    assert_eq!(blobs.place(), "s3://bucket/planwright/files");
    let (one, two) = (session("cli:k3yk3y8x"), session("web:K3yk3y8x"));
    pieces_are_kept_for_one_session_each(&blobs, [&one, &two]).await;
    let keys: Vec<String> = objects.lock().unwrap().keys().cloned().collect();
    let left = format!("planwright/files/{}/{}", two.folder_name(), ContentHash::of(b"\0b"));
    assert_eq!(keys, [left]);
}

#[tokio::test]
async fn pieces_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = ObjectBlobs::in_folder(&folder.path().join("made/here")).unwrap();
    pieces_are_kept_for_one_session_each(&blobs, [&session("cli:k3yk3y8x"), &session("web:K3yk3y8x")]).await;
}

#[tokio::test]
async fn an_address_that_leads_nowhere_says_so() {
    for url in ["https://bucket", "s3://", "s3:///prefix"] {
        let refused = ObjectBlobs::in_s3(url, variables("http://127.0.0.1:1")).unwrap_err();
        assert_eq!(refused.code, RefusalCode::InvalidArgument);
        assert!(refused.message.contains(url), "{refused}");
    }
}
