"""Serves the table of flight_batches with pyarrow's Flight server (C++), to compare ours with it."""

import argparse
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import urlsplit

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # errors are told once, by us
try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.flight as flight
except ImportError as missing:
    print(f"error: {missing}: scripts/setup.sh --pyarrow installs pyarrow", file=sys.stderr)
    sys.exit(2)

FLIGHT, Context = "table", flight.ServerCallContext
REPEATS = 1_000  # of the table in one C++ reader; more come as several
FIELDS = ("records_per_batch", "batch_generation_delay", "batches")


def load(path: str | None, rows: int, columns: int, seed: int) -> pa.Table:
    """The table of an Arrow IPC file, mapped into memory; without a file one of integers, not those of our server."""
    if path:
        table = pa.ipc.open_file(pa.memory_map(path)).read_all().combine_chunks()
    else:
        random = (pc.random(rows, initializer=(seed * columns + number) % 2**63) for number in range(columns))
        values = [pc.floor(pc.multiply(column, 50_000)).cast(pa.int64()) for column in random]
        table = pa.table(values, pa.schema([pa.field(f"col_{n}", pa.int64(), False) for n in range(columns)]))
    if table.num_rows == 0:
        raise pa.ArrowInvalid("the table is empty")
    for column in table.columns:
        pc.min_max(column)  # no stream is the first to touch the pages
    return table


def parse(ticket: bytes, rows: int) -> tuple[int, float, int | None]:
    """Rows of a batch, seconds before each, batches if they are counted; ArrowInvalid (InvalidArgument) says why a ticket is bad."""
    try:
        fields = json.loads(ticket.decode())
    except (ValueError, RecursionError) as error:
        raise pa.ArrowInvalid(f'the ticket is not JSON like {{"records_per_batch": 10000}}: {error}') from None
    if not isinstance(fields, dict) or not set(fields) <= set(FIELDS):
        raise pa.ArrowInvalid(f"the ticket is not a JSON object of {', '.join(FIELDS)}")
    size, delay, batches = fields.get(FIELDS[0]), fields.get(FIELDS[1], 0), fields.get(FIELDS[2])
    if type(size) is not int or not 1 <= size <= rows:
        raise pa.ArrowInvalid(f"records_per_batch is {size!r:.40}: a batch has 1 to {rows} rows")
    if type(delay) not in (int, float) or not 0 <= delay <= 3600:
        raise pa.ArrowInvalid(f"batch_generation_delay is {delay!r:.40}: it is 0 to 3600 seconds")
    if batches is not None and (type(batches) is not int or not 1 <= batches < 2**63):
        raise pa.ArrowInvalid(f"batches is {batches!r:.40}: ask for one at least, or leave it out")
    return size, float(delay), batches


class Server(flight.FlightServerBase):
    """One flight, the table, by tickets that say how it is cut and how long each batch takes."""

    def __init__(self, location: str, table: pa.Table) -> None:
        """Listens and serves at once."""
        self.table, self.rows, self.schema = table, table.num_rows, table.schema
        super().__init__(location)

    @lru_cache(maxsize=8)
    def repeated(self, cycle: int, tables: int, rows: int) -> pa.Table:
        """The first `cycle` rows so many times, then the first `rows`; nothing is copied, and streams share it."""
        return pa.concat_tables([self.table.slice(0, cycle)] * tables + [self.table.slice(0, rows)])

    def readers(self, size: int, batches: int, per_table: int) -> Iterator[pa.RecordBatchReader]:
        """C++ readers of the batches; a batch ends where the table ends."""
        while batches > 0:
            tables, rest = divmod(min(batches, REPEATS * per_table), per_table)
            yield self.repeated(min(per_table * size, self.rows), tables, rest * size).to_reader(max_chunksize=size)
            batches -= REPEATS * per_table

    def delayed(self, delay: float, size: int, batches: int, per_table: int) -> Iterator[pa.RecordBatch]:
        """Sleeps before each batch, in the thread of the request."""
        whole = self.table.to_batches()[0]
        for number in range(batches):
            time.sleep(delay)
            yield whole.slice(number % per_table * size, size)

    def do_get(self, context: Context, ticket: flight.Ticket) -> flight.FlightDataStream:
        """The batches of a ticket."""
        size, delay, counted = parse(ticket.ticket, self.rows)
        # Whoever counts the batches gets full ones.
        per_table = self.rows // size if counted else -(-self.rows // size)
        batches = counted or per_table
        if delay == 0 and batches <= REPEATS * per_table:
            return flight.RecordBatchStream(next(self.readers(size, batches, per_table)))
        made = self.delayed(delay, size, batches, per_table) if delay else self.readers(size, batches, per_table)
        return flight.GeneratorStream(self.schema, made)

    def info(self) -> flight.FlightInfo:
        """What there is to get."""
        ticket = json.dumps({"records_per_batch": min(10_000, self.rows), "batch_generation_delay": 0.0})
        parts = flight.FlightDescriptor.for_path(FLIGHT), [flight.FlightEndpoint(ticket.encode(), [])]
        return flight.FlightInfo(self.schema, *parts, self.rows, self.table.nbytes)

    def list_flights(self, context: Context, criteria: bytes) -> Iterator[flight.FlightInfo]:
        """The one flight."""
        yield self.info()

    def get_flight_info(self, context: Context, descriptor: flight.FlightDescriptor) -> flight.FlightInfo:
        """The one flight, if it is meant."""
        if descriptor.path != [FLIGHT.encode()] and descriptor.command != FLIGHT.encode():
            raise KeyError(f'there is one flight, with the path ["{FLIGHT}"]')
        return self.info()

    def get_schema(self, context: Context, descriptor: flight.FlightDescriptor) -> flight.SchemaResult:
        """The columns."""
        return flight.SchemaResult(self.get_flight_info(context, descriptor).schema)


def main() -> None:
    """Serves until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in ("--rows", 1_000_000), ("--cols", 50), ("--seed", 0):
        parser.add_argument(name, type=int, default=default)
    parser.add_argument("--table", metavar="FILE", help="serve this Arrow IPC file; the options above are ignored")
    parser.add_argument("--location", default="grpc://127.0.0.1:0")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end also at the end of stdin")
    options = parser.parse_args()
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, lambda *_: os._exit(0))  # an interpreter that ends in order waits for all streams
    try:
        table = load(options.table, options.rows, options.cols, options.seed)
        server = Server(options.location, table)
    except (OSError, pa.ArrowException) as error:
        reason = str(error).replace("Unknown error: Server did not start properly", "the address is taken, or not ours")
        print(f"error: cannot serve {options.table or 'a table'} at {options.location}: {reason}", file=sys.stderr)
        sys.exit(2)
    print(f"listening on http://{urlsplit(options.location).hostname}:{server.port}", flush=True)
    while not select.select([0] * options.until_stdin_closes, [], [], 0.5)[0] or os.read(0, 65_536):
        pass  # gRPC's threads serve; a signal that one of them got is seen here
    os._exit(0)


if __name__ == "__main__":
    main()
