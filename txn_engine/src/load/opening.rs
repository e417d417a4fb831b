//! How the connections of a load are opened: some at a time, and each is answered once before the load begins.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
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
    let mut line = Vec::new();
    let mut patience = load.patience;
    for first in (0..connections.len()).step_by(BATCH) {
        let batch = first..(first + BATCH).min(connections.len());
        for number in batch.clone() {
            let stream = match open(load, number) {
                Ok(stream) => stream,
                // The first says whether there is anybody at all; later ones may be refused.
                Err(source) if number == 0 => {
                    return Err(Error::Connect { address: load.address, source });
                }
                Err(_) => continue,
            };
            line.clear();
            scripts[number].next(&mut line);
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

fn open(load: &Load, number: usize) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(load.address), Type::STREAM, Some(Protocol::TCP))?;
    if let Some(source) = load.source(number) {
        socket.bind(&SocketAddr::new(source, 0).into())?;
    }
    socket.connect_timeout(&load.address.into(), load.patience.max(Duration::from_millis(1)))?;
    socket.set_tcp_nodelay(true)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}
