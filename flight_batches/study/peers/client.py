"""Reads from a server of flight_batches with pyarrow's Flight client, as somebody else's program would."""

import argparse
import json
import os
import re
import sys
from typing import Any

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # errors are told once, by us
try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.flight as flight
except ImportError as missing:
    print(f"error: {missing}: scripts/setup.sh --pyarrow installs pyarrow", file=sys.stderr)
    sys.exit(2)

MALFORMED = (
    b"",
    b"\xff\xfe\x00",
    b"not json",
    b"null",
    b"[1000, 0]",
    b"{}",
    b'{"records_per_batch": 1000',
    b'{"records_per_batch": 1000} {}',
    b'{"records_per_batch": 0}',
    b'{"records_per_batch": -1}',
    b'{"records_per_batch": 1.5}',
    b'{"records_per_batch": "1000"}',
    b'{"records_per_batch": true}',
    b'{"records_per_batch": 1000000000000}',
    b'{"records_per_batch": 1' + b"0" * 10_000 + b"}",
    b'{"records_per_batch": 1, "batch_generation_delay": -0.001}',
    b'{"records_per_batch": 1, "batch_generation_delay": NaN}',
    b'{"records_per_batch": 1, "batch_generation_delay": 1e300}',
    b'{"records_per_batch": 1, "batch_generation_delay": null}',
    b'{"records_per_batch": 1, "batches": 0}',
    b'{"records_per_batch": 1, "batches": -1}',
    b'{"records_per_batch": 1, "rows": 1}',
    b"[" * 100_000,
)


def say(line: dict[str, Any]) -> None:
    """Prints a JSON line."""
    print(json.dumps(line), flush=True)


def reason(error: Exception) -> str:
    """What the server said, without the traceback and the remarks that the libraries add."""
    return re.split(r"\. (?:Detail: Python exception|gRPC client debug context): ", str(error))[0]


def wrap(number: int) -> int:
    """The number as a signed 64-bit integer that wraps."""
    return (number + 2**63) % 2**64 - 2**63


def checksum(batch: pa.RecordBatch) -> int:
    """The sum of all values of a batch."""
    return sum(pc.sum(column).as_py() or 0 for column in batch.columns)


def read(client: flight.FlightClient, ticket: dict[str, Any]) -> dict[str, Any]:
    """Reads a stream to its end and keeps nothing of it."""
    stream = client.do_get(flight.Ticket(json.dumps(ticket).encode()))
    batches = rows = size = total = 0
    for chunk in stream:
        batches += 1
        rows += chunk.data.num_rows
        size += chunk.data.nbytes
        total = wrap(total + checksum(chunk.data))
    return {"batches": batches, "rows": rows, "bytes": size, "checksum": total, "schema": stream.schema.names}


def malformed(client: flight.FlightClient) -> bool:
    """Sends bad tickets; says whether all were refused as invalid."""
    refused = True
    for ticket in MALFORMED:
        line = {"ticket": ticket[:60].decode(errors="replace"), "length": len(ticket)}
        try:
            client.do_get(flight.Ticket(ticket)).read_chunk()
            line |= {"refused": False, "error": None, "message": "the server sent a batch"}
        except StopIteration:
            line |= {"refused": False, "error": None, "message": "the server sent a stream without batches"}
        except pa.ArrowException as error:
            # InvalidArgument comes as ArrowInvalid; anything else is a fault of the server or the way to it.
            invalid = isinstance(error, pa.ArrowInvalid)
            line |= {"refused": invalid, "error": type(error).__name__, "message": reason(error)}
        refused = refused and line["refused"]
        say(line)
    return refused


def describe(info: flight.FlightInfo) -> dict[str, Any]:
    """A flight as JSON."""
    path = [part.decode() for part in info.descriptor.path or []]
    tickets = [endpoint.ticket.ticket.decode() for endpoint in info.endpoints]
    names = info.schema.names
    return {"path": path, "records": info.total_records, "bytes": info.total_bytes, "tickets": tickets, "schema": names}


def information(client: flight.FlightClient) -> dict[str, Any]:
    """What the server says of itself and of its flights."""
    flights = list(client.list_flights())
    descriptor = flights[0].descriptor if flights else flight.FlightDescriptor.for_path("table")
    return {
        "list_flights": [describe(info) for info in flights],
        "get_flight_info": describe(client.get_flight_info(descriptor)),
        "get_schema": [[field.name, str(field.type)] for field in client.get_schema(descriptor).schema],
        "stats": [json.loads(result.body.to_pybytes()) for result in client.do_action("stats")],
    }


def main() -> int:
    """Exit code 0: fine; 1: the server answered wrongly or broke off; 2: it was not reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("endpoint", help="like http://127.0.0.1:1234")
    parser.add_argument("--rows", type=int, help="rows of a batch")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds per batch")
    parser.add_argument("--batches", type=int, help="how many; without it the table once")
    parser.add_argument("--malformed", action="store_true", help="send bad tickets instead")
    parser.add_argument("--info", action="store_true", help="ask for all but batches instead")
    options = parser.parse_args()
    if options.rows is None and not (options.malformed or options.info):
        parser.error("--rows, --malformed or --info is needed")
    ticket = {"records_per_batch": options.rows, "batch_generation_delay": options.delay}
    if options.batches is not None:
        ticket["batches"] = options.batches
    try:
        with flight.connect(options.endpoint.replace("http://", "grpc://", 1)) as client:
            if options.malformed:
                return 0 if malformed(client) else 1
            say(information(client) if options.info else read(client, ticket))
            return 0
    except (pa.ArrowException, ValueError) as error:
        print(f"error: {options.endpoint}: {reason(error)}", file=sys.stderr)
        return 2 if isinstance(error, flight.FlightUnavailableError) else 1


if __name__ == "__main__":
    sys.exit(main())
