//! Tells systemd when the server is ready and when it stops, if `NOTIFY_SOCKET` is set.

/// Sends a state such as `READY=1`. A failure is logged and otherwise ignored.
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
        tracing::warn!(event = "not_notified", %error, "the service manager could not be notified");
    }
}

/// A name that begins with `@` is in the abstract namespace, not in the file system.
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
