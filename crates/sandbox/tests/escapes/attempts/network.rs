//! Reaching the network and the sockets of other processes.

use std::io::{Read as _, Result};
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::time::Duration;

use super::{Attempt, Inside, is_secret};
use crate::calls;
use crate::stage::abstract_name;

pub(super) fn attempts() -> Vec<Attempt> {
    vec![
        Attempt::new("tcp", "connect by TCP", |at| {
            let mut stream = TcpStream::connect(("127.0.0.1", port(at, "TCP_PORT")))?;
            read_secret(&mut stream)
        }),
        Attempt::new("udp", "exchange datagrams by UDP", |at| {
            let socket = UdpSocket::bind("127.0.0.1:0")?;
            socket.set_read_timeout(Some(Duration::from_secs(5)))?;
            socket.connect(("127.0.0.1", port(at, "UDP_PORT")))?;
            socket.send(b"x")?;
            let mut buffer = [0; 64];
            let count = socket.recv(&mut buffer)?;
            is_secret(&buffer[..count])
        }),
        Attempt::new("raw_socket", "open a raw socket", |_| {
            calls::socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP).map(drop)
        })
        .for_root(),
        Attempt::new("packet_socket", "open a socket for packets", |_| {
            calls::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map(drop)
        })
        .for_root(),
        Attempt::new("unix_stream", "connect to a Unix socket", |at| {
            read_secret(&mut UnixStream::connect(at.outside("stream"))?)
        }),
        Attempt::new("unix_datagram", "send a datagram to a Unix socket", |at| {
            UnixDatagram::unbound()?.send_to(b"reached", at.outside("datagram")).map(drop)
        })
        .changing(),
        Attempt::new("unix_through_process", "connect to a Unix socket through another process's root", |at| {
            let path = at.outside("stream");
            let through = at.victim().join("root").join(path.strip_prefix("/").unwrap());
            read_secret(&mut UnixStream::connect(through)?)
        }),
        Attempt::new("unix_abstract", "connect to an abstract Unix socket", |at| {
            let address = SocketAddr::from_abstract_name(abstract_name(&at.root))?;
            read_secret(&mut UnixStream::connect_addr(&address)?)
        }),
        Attempt::new("vsock_socket", "open a socket to the host of a virtual machine", |_| {
            calls::socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0).map(drop)
        }),
        Attempt::new("crypto_socket", "open a socket to the kernel's cryptography", |_| {
            calls::socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0).map(drop)
        }),
        Attempt::new("device_events", "listen to the kernel's device events", |_| {
            calls::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_KOBJECT_UEVENT).map(drop)
        }),
    ]
}

fn port(at: &Inside, name: &str) -> u16 {
    at.value(name).parse().unwrap()
}

fn read_secret(stream: &mut impl std::io::Read) -> Result<()> {
    let mut content = Vec::new();
    stream.take(64).read_to_end(&mut content)?;
    is_secret(content)
}
