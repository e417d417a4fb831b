"""Runs one cell of the authors' benchmark with their own code: one of their servers, and their generator for one setting.

usage: original.py FOLDER async|sync ROWS DELAY_S

FOLDER is their example, whose modules are used as they are. Prints the throughput and the latency that the generator came to. Their servers
listen on all addresses: where the system lets us, all of it runs in a network of its own.
"""

import os
import shutil
import socket
import subprocess
import sys
import time

PORTS = {"async": 8815, "sync": 8816}
REQUESTS = 1_000  # What the generator is told; it sends one.
STARTS_WITHIN_S = 60.0
ALONE = "ORIGINAL_ALONE"


def alone():
    """Starts this program again in a network namespace that has nothing but the loopback."""
    if ALONE in os.environ or not shutil.which("unshare") or not shutil.which("ip"):
        return ALONE in os.environ
    enter = ["unshare", "--net", "--map-root-user", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    if subprocess.run([*enter, "true"], capture_output=True, check=False).returncode != 0:
        return False
    os.execvpe(enter[0], [*enter, sys.executable, *sys.argv], {**os.environ, ALONE: "yes"})


def wait_for(server, port):
    end = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < end and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit("their server did not start")


def main():
    if len(sys.argv) != 5 or sys.argv[2] not in PORTS:
        sys.exit(__doc__)
    if not alone():
        print("note: their servers listen on all addresses of this machine meanwhile", file=sys.stderr)
    folder, mode, rows, delay_s = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    server = subprocess.Popen([sys.executable, f"server_{mode}.py"], cwd=folder, stdout=sys.stderr)
    try:
        wait_for(server, PORTS[mode])
        sys.path.insert(0, folder)
        import run_benchmark

        client = run_benchmark.FlightClientManager(f"grpc://127.0.0.1:{PORTS[mode]}", REQUESTS)
        # As they do: once without a delay, to warm up.
        run_benchmark.run_concurrently(client, REQUESTS, rows, 0.0)
        found = run_benchmark.run_concurrently(client, REQUESTS, rows, delay_s)
        print(f"throughput: {found.throughput_MBps}")
        print(f"latency: {found.average_latency}s", flush=True)
    finally:
        server.kill()
    # Their client leaves threads behind that wait for ever.
    os._exit(0)


main()
