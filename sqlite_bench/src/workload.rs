//! What is asked of a design: how many databases, readers and writers, how long a write holds its database, and in which loop.

use std::time::Duration;

/// A step of tokio's timer, which a pause takes longer than was asked for.
const TIMER_STEP: Duration = Duration::from_millis(1);

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workload {
    /// Databases, each with one writer.
    pub databases: usize,
    /// Readers of each database in the closed loop.
    pub readers: usize,
    pub workers: usize,
    /// How long a write holds its database.
    pub hold: Duration,
    /// Pause of a reader between two reads, in the closed loop.
    pub think: Duration,
    /// Pause of a writer between two writes.
    pub rest: Duration,
    /// How long new operations are begun.
    pub window: Duration,
    pub reads: Loop,
    pub writes: Writes,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Loop {
    /// Each reader waits for its answer, pauses and asks again, as published: who is not answered does not ask.
    Closed,
    /// Reads begin on a schedule, whatever became of those before.
    Open { reads_per_s: f64 },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// One after the other for the whole window.
    Steady,
    /// One per database; the window ends when all of them are done, and not before.
    Once,
    Never,
}

impl Workload {
    /// The published setting with this hold.
    pub const fn published(hold: Duration, window: Duration) -> Self {
        Workload {
            databases: 8,
            readers: 3,
            workers: 4,
            hold,
            think: Duration::from_millis(5),
            rest: Duration::ZERO,
            window,
            reads: Loop::Closed,
            writes: Writes::Steady,
        }
    }

    /// From one write to the next: a step of the timer is allowed for the write itself.
    pub fn write_cycle(&self) -> Duration {
        self.hold + self.rest + TIMER_STEP
    }

    /// Writes that fit into the window at that pace; 0 where nothing but their own cost limits them.
    pub fn expected_writes(&self) -> u64 {
        let per_database = match self.writes {
            Writes::Once => 1,
            // The last write needs no pause after it.
            Writes::Steady if !self.hold.is_zero() => {
                (self.window + self.rest).as_nanos() / self.write_cycle().as_nanos()
            }
            Writes::Never | Writes::Steady => 0,
        };
        u64::try_from(per_database).unwrap_or(u64::MAX).saturating_mul(self.databases as u64)
    }

    /// When the writer of a database begins, and by how much its window is later. In the open loop nothing makes the writers keep step.
    pub fn first_write(&self, database: usize) -> Duration {
        match self.reads {
            Loop::Closed => Duration::ZERO,
            Loop::Open { .. } => self.write_cycle().mul_f64(database as f64 / self.databases as f64),
        }
    }

    /// Reads that the schedule of the open loop has; none in the closed loop.
    pub fn scheduled_reads(&self) -> u64 {
        match self.reads {
            Loop::Closed => 0,
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of requests")]
            Loop::Open { reads_per_s } => {
                (reads_per_s * self.window.as_secs_f64()).floor() as u64 * self.databases as u64
            }
        }
    }
}
