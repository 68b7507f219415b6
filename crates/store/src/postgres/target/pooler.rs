//! Whether a connection pooler such as PgBouncer is between this program and the database. A pooler answers a new client
//! itself, with a process id of its own; a server says the id of the process that also executes the statements.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_postgres::{Client, Error};

use crate::postgres::statement;
use crate::postgres::tls::PlainStream;

pub(super) async fn is_pooled(client: &Client) -> Result<bool, Error> {
    let executing = statement::query(client, "SELECT pg_backend_pid()", &[]).await;
    let executing = executing.and_then(|rows| rows.first().map_or(Ok(None), |row| row.try_get::<_, Option<i32>>(0)));
    match (executing, announced(client).await) {
        (Ok(Some(executing)), Some(announced)) => Ok(executing != announced),
        // A database that has no such ids has no pooler in front of it that could be told by them.
        (Ok(_), _) => Ok(false),
        (Err(error), _) if error.code().is_some() => Ok(false),
        (Err(error), _) => Err(error),
    }
}

/// The process id that the client was given at its beginning. The driver keeps it to itself, but writes it into every request
/// to cancel a statement; this one is written into a pipe that leads nowhere.
async fn announced(client: &Client) -> Option<i32> {
    let (own, mut far) = tokio::io::duplex(64);
    // The answer to the question for TLS, which comes first on a connection that is encrypted.
    far.write_all(b"S").await.ok()?;
    client.cancel_token().cancel_query_raw(own, PlainStream).await.ok()?;
    let mut written = Vec::new();
    far.read_to_end(&mut written).await.ok()?;
    // The request ends with the id and a secret of four bytes each.
    let id = written.len().checked_sub(8).and_then(|at| written.get(at..at + 4))?;
    Some(i32::from_be_bytes(id.try_into().ok()?))
}
