"""Runs one cell of the authors' benchmark with their own code: one of their servers, and their generator for one setting.

usage: original.py FOLDER async|sync|async-select ROWS DELAY_S REQUESTS...

FOLDER is their example, whose modules are used as they are. REQUESTS are the numbers that the generator is told, one after the other; it sends
one request each time, and one without a delay before it. Prints the means of the throughputs and latencies that it came to. async-select is
their async server on an event loop that waits with select() instead of epoll, whose timeouts Python rounds up to whole milliseconds. Their
servers listen on all addresses: where the system lets us, all of it runs in a network of its own.
"""

import os
import shutil
import socket
import statistics
import subprocess
import sys
import time

PORTS = {"async": 8815, "sync": 8816}
SELECT = """
import asyncio, runpy, selectors, sys
asyncio.new_event_loop = lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())
sys.path.insert(0, "")
runpy.run_path("server_async.py", run_name="__main__")
"""
STARTS_WITHIN_S = 60.0
ALONE = "ORIGINAL_ALONE"
# Every request of theirs leaves memory for the table of the next, if the allocator keeps it. glibc by itself gives it back or not as it happens
# to lie; a table in fresh memory takes up to twice as long to read.
KEEP = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**31 - 1)}


def alone():
    """Starts this program again with an allocator that keeps memory, where it can be in a network namespace that has nothing but the loopback."""
    if ALONE in os.environ:
        return os.environ[ALONE] == "yes"
    enter = ["unshare", "--net", "--map-root-user", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    can = shutil.which("unshare") and shutil.which("ip")
    can = can and subprocess.run([*enter, "true"], capture_output=True, check=False).returncode == 0
    again = [*(enter if can else []), sys.executable, *sys.argv]
    os.execvpe(again[0], again, {**os.environ, **KEEP, ALONE: "yes" if can else "no"})


def wait_for(server, port):
    end = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < end and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit("their server did not start")


def main():
    mode, _, loop = sys.argv[2].partition("-") if len(sys.argv) > 5 else ("", "", "")
    if mode not in PORTS or loop not in ("", "select"):
        sys.exit(__doc__)
    if not alone():
        print("note: their servers listen on all addresses of this machine meanwhile", file=sys.stderr)
    folder, rows, delay_s = sys.argv[1], int(sys.argv[3]), float(sys.argv[4])
    program = ["-c", SELECT] if loop else [f"server_{mode}.py"]
    environment = {name: value for name, value in os.environ.items() if name not in KEEP}
    server = subprocess.Popen([sys.executable, *program], cwd=folder, stdout=sys.stderr, env=environment)
    try:
        wait_for(server, PORTS[mode])
        sys.path.insert(0, folder)
        import run_benchmark

        found = []
        for requests in map(int, sys.argv[5:]):
            # As they do: new clients, and once without a delay to warm up.
            client = run_benchmark.FlightClientManager(f"grpc://127.0.0.1:{PORTS[mode]}", requests)
            run_benchmark.run_concurrently(client, requests, rows, 0.0)
            found.append(run_benchmark.run_concurrently(client, requests, rows, delay_s))
        print(f"throughput: {statistics.fmean(one.throughput_MBps for one in found)}")
        print(f"latency: {statistics.fmean(one.average_latency for one in found)}s", flush=True)
    finally:
        server.kill()
    # Their client leaves threads behind that wait for ever.
    os._exit(0)


main()
