"""The first process of the node's own namespaces: containerd and the kubelet are its children.

Usage: ``unshare ... python node_init.py FOLDER CONTAINERD KUBELET`` with each command as a JSON list. Run by
path: it imports nothing of ours. What the two write on this machine outside of ``FOLDER`` stays in these
namespaces: folders of the system are others in here, and so are the kernel's settings that a kubelet
changes. When this process ends, however it does, the kernel ends all others and unmounts everything.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

_FOLDERS = {"run": "/run", "lib": "/var/lib", "log": "/var/log"}
_SETTINGS = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)
_SOCKET = Path("/run/containerd/containerd.sock")
_SOCKET_SECONDS = 60.0


def main(folder: Path, containerd: list[str], kubelet: list[str]) -> int:
    """Start both and wait until one of them ends; orphans of others are reaped meanwhile."""
    for name, place in _FOLDERS.items():
        _bind(folder / name, place)
    for name in _SETTINGS:
        _stand_in(folder / "kernel" / name, Path("/proc/sys", name))
    started = [_start(containerd, folder / "containerd.log")]
    end = time.monotonic() + _SOCKET_SECONDS
    while not _SOCKET.exists() and time.monotonic() < end:
        time.sleep(0.05)
    started.append(_start(kubelet, folder / "kubelet.log"))
    while (ended := os.wait()[0]) not in started:
        pass
    sys.stderr.write(f"{('containerd', 'kubelet')[started.index(ended)]} ended; see its log\n")
    return 1


def _bind(source: Path, place: str) -> None:
    subprocess.run(["mount", "--bind", str(source), place], check=True, timeout=10)


def _stand_in(file: Path, setting: Path) -> None:
    if setting.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(setting.read_bytes())
        _bind(file, str(setting))


def _start(command: list[str], log: Path) -> int:
    with log.open("ab") as output:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output).pid


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *map(json.loads, sys.argv[2:])))
