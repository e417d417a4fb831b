//! How the connections of a load are opened: some at a time, and each is answered once before the load begins.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use super::connections::{Connection, State, Waiting};
use super::receiver::Receiver;
use super::script::Script;
use super::settings::Load;
use crate::error::Error;

/// Connections that are opened before the first answers of all of them are waited for: below what any system lets wait to be accepted.
const BATCH: usize = 128;

/// For the first answers of a batch, after one in which none came.
const PATIENCE_WITH_THE_SILENT: Duration = Duration::from_millis(50);

/// Opens the connections, some at a time, and waits until each of them has had the answer to its first row.
pub(super) fn open_all(
    load: &Load,
    connections: &[Connection],
    scripts: &mut [Script],
    receiver: &mut Receiver,
) -> Result<(), Error> {
    // The first says whether there is anybody at all; later ones may be refused.
    let (address, first) = first(load)?;
    let mut first = Some(first);
    let mut line = Vec::new();
    let mut patience = load.patience;
    for start in (0..connections.len()).step_by(BATCH) {
        let batch = start..(start + BATCH).min(connections.len());
        for number in batch.clone() {
            let opened = first.take().map_or_else(|| open(load, address, number), Ok);
            let Ok(stream) = opened else { continue };
            line.clear();
            // Writing to a vector cannot fail.
            let _ = scripts[number].next_row().write(&mut line);
            let connection = &connections[number];
            let now = Instant::now();
            connection.waiting().push_back(Waiting { due: now, sent: now });
            connection.open(stream);
            receiver.watch(number)?;
            // A refused connection may be closed already; its reader will see it.
            let _ = connection.stream().map_or(Ok(()), |mut stream| stream.write_all(&line));
        }
        let open = || batch.clone().any(|number| is_undecided(&connections[number]));
        receiver.receive_while(open, patience);
        // A server that has stopped to take connections is not waited for with every batch anew.
        let silent = batch.clone().all(|number| is_undecided(&connections[number]));
        patience = if silent { PATIENCE_WITH_THE_SILENT.min(load.patience) } else { load.patience };
    }
    Ok(())
}

fn is_undecided(connection: &Connection) -> bool {
    connection.state() == State::Unserved && !connection.waiting().is_empty()
}

/// The first connection, and the address of the server where there was one to be had.
fn first(load: &Load) -> Result<(SocketAddr, TcpStream), Error> {
    let unknown = |source| Error::Resolve { address: load.address.clone(), source };
    let mut failed = unknown(io::Error::other("it has no address"));
    for address in load.address.to_socket_addrs().map_err(unknown)? {
        match open(load, address, 0) {
            Ok(stream) => return Ok((address, stream)),
            Err(source) => failed = Error::Connect { address: load.address.clone(), source },
        }
    }
    Err(failed)
}

fn open(load: &Load, address: SocketAddr, number: usize) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if let Some(source) = Load::source(address, number) {
        socket.bind(&SocketAddr::new(source, 0).into())?;
    }
    socket.connect_timeout(&address.into(), load.patience.max(Duration::from_millis(1)))?;
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}
