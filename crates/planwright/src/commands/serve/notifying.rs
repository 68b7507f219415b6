//! A service manager is told when the server is ready and when it stops, if one is waiting to hear it.

/// Whoever cannot be told is not waited for.
#[cfg(unix)]
pub(super) fn notify(state: &str) {
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    let Some(path) = std::env::var_os("NOTIFY_SOCKET").filter(|path| !path.is_empty()) else { return };
    let send = || -> std::io::Result<()> {
        let socket = UnixDatagram::unbound()?;
        let address = match abstract_name(&path) {
            Some(address) => address?,
            None => SocketAddr::from_pathname(&path)?,
        };
        socket.send_to_addr(state.as_bytes(), &address)?;
        Ok(())
    };
    if let Err(error) = send() {
        tracing::warn!(event = "not_notified", %error, "the service manager cannot be told");
    }
}

/// A name that begins with `@` is not one of a file.
#[cfg(target_os = "linux")]
fn abstract_name(path: &std::ffi::OsStr) -> Option<std::io::Result<std::os::unix::net::SocketAddr>> {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::ffi::OsStrExt as _;

    let name = path.as_bytes().strip_prefix(b"@")?;
    Some(std::os::unix::net::SocketAddr::from_abstract_name(name))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn abstract_name(_: &std::ffi::OsStr) -> Option<std::io::Result<std::os::unix::net::SocketAddr>> {
    None
}

#[cfg(not(unix))]
pub(super) fn notify(_: &str) {}
