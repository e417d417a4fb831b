//! What is asked of a server.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::script::Script;

/// How the rows are spread over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Arrivals {
    /// As of many clients that know nothing of each other.
    Poisson,
    /// One every so often.
    Constant,
}

/// What is asked of the server.
#[derive(Debug, Clone)]
pub struct Load {
    /// Where it is.
    pub address: SocketAddr,
    /// Connections.
    pub clients: usize,
    /// Rows per second over all of them.
    pub rate: f64,
    /// For how long rows are sent that count.
    pub duration: Duration,
    /// For how long before that, not counted.
    pub warm_up: Duration,
    /// How they are spread.
    pub arrivals: Arrivals,
    /// Of rows and times.
    pub seed: u64,
    /// The lowest transaction id.
    pub first_tx: u32,
    /// An answer that does not come within this after the last row has failed, and so has a connection whose first answer does not.
    pub patience: Duration,
}

impl Load {
    /// What the client of that number sends.
    #[must_use]
    pub fn script(&self, client: usize) -> Script {
        Script::new(self.seed, client, self.clients, self.first_tx)
    }

    /// The address that the connection of that number comes from: over the loopback interface there are many, each with ports of its own.
    pub(super) fn source(&self, number: usize) -> Option<IpAddr> {
        /// So many addresses have ports for all connections, and for those of the runs before that are not forgotten yet.
        const SOURCES: usize = 200;
        let IpAddr::V4(address) = self.address.ip() else { return None };
        // macOS has one address there unless it was given more.
        (address.is_loopback() && cfg!(target_os = "linux")).then(|| {
            let last = u8::try_from(number % SOURCES + 2).unwrap_or(2);
            IpAddr::from([127, 0, 0, last])
        })
    }
}
