"""The control plane: etcd, the API server, the controllers and the scheduler, on the loopback interface."""

import json
import secrets
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import trustme

from streams.embedded.broker_properties import LOOPBACK, free_ports
from tests.support.cluster.network import Network
from tests.support.cluster.part import Part
from tests.support.debian import debian_tool

_READY_SECONDS = 120.0
_ASK_SECONDS = 5.0
#: Addresses of services, which nothing leads to: there is no proxy for them on the node.
_SERVICES = "10.0.0.0/24"


@dataclass(frozen=True, slots=True)
class Access:
    """How the API server is reached: by one user who may do everything."""

    kubeconfig: Path
    url: str


@contextmanager
def control_plane(folder: Path, programs: Path, network: Network) -> Iterator[Access]:
    """Run everything but the node; ``folder`` is where logs, data and keys go."""
    etcd_port, peer_port, port = free_ports(3)
    keys = _make_keys(folder)
    access = Access(folder / "kubeconfig.json", f"https://{LOOPBACK}:{port}")
    _write_access(access, keys, token := secrets.token_urlsafe())
    (folder / "tokens.csv").write_text(f"{token},tests,tests,system:masters\n", "utf-8")
    with ExitStack() as parts:
        etcd = parts.enter_context(Part("etcd", _etcd(folder, etcd_port, peer_port), folder))
        etcd.wait_until(lambda: _says(f"http://{LOOPBACK}:{etcd_port}/health", None), _READY_SECONDS)
        command = _api_server(folder, programs, keys, network, etcd_port, port)
        server = parts.enter_context(Part("kube-apiserver", command, folder))
        trusted = ssl.create_default_context(cafile=str(keys.authority))
        server.wait_until(lambda: _says(f"{access.url}/readyz", trusted), _READY_SECONDS)
        parts.enter_context(
            Part("kube-controller-manager", _controllers(folder, programs, keys, access), folder)
        )
        parts.enter_context(Part("kube-scheduler", _scheduler(programs, access), folder))
        yield access


@dataclass(frozen=True, slots=True)
class _Keys:
    authority: Path
    certificate: Path
    key: Path


def _make_keys(folder: Path) -> _Keys:
    keys = _Keys(folder / "authority.pem", folder / "server.pem", folder / "server.key")
    authority = trustme.CA()
    server = authority.issue_cert(LOOPBACK)
    authority.cert_pem.write_to_path(keys.authority)
    server.cert_chain_pems[0].write_to_path(keys.certificate)
    server.private_key_pem.write_to_path(keys.key)
    return keys


def _write_access(access: Access, keys: _Keys, token: str) -> None:
    server = {"server": access.url, "certificate-authority": str(keys.authority)}
    written = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "tests", "cluster": server}],
        "users": [{"name": "tests", "user": {"token": token}}],
        "contexts": [{"name": "tests", "context": {"cluster": "tests", "user": "tests"}}],
        "current-context": "tests",
    }
    access.kubeconfig.touch(mode=0o600)
    access.kubeconfig.write_text(json.dumps(written), "utf-8")


def _etcd(folder: Path, port: int, peers: int) -> list[str | Path]:
    client, peer = f"http://{LOOPBACK}:{port}", f"http://{LOOPBACK}:{peers}"
    return [
        *(debian_tool("etcd"), f"--data-dir={folder / 'etcd'}"),
        *(f"--listen-client-urls={client}", f"--advertise-client-urls={client}"),
        *(f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"),
        f"--initial-cluster=default={peer}",
    ]


def _api_server(
    folder: Path, programs: Path, keys: _Keys, network: Network, etcd: int, port: int
) -> list[str | Path]:
    return [
        *(programs / "kube-apiserver", f"--etcd-servers=http://{LOOPBACK}:{etcd}"),
        *(f"--bind-address={LOOPBACK}", f"--secure-port={port}", f"--advertise-address={network.gateway}"),
        *(f"--tls-cert-file={keys.certificate}", f"--tls-private-key-file={keys.key}"),
        *("--authorization-mode=RBAC", f"--token-auth-file={folder / 'tokens.csv'}"),
        "--service-account-issuer=https://kubernetes.default.svc",
        *(f"--service-account-key-file={keys.key}", f"--service-account-signing-key-file={keys.key}"),
        *(f"--service-cluster-ip-range={_SERVICES}", f"--cert-dir={folder}"),
        "--kubelet-preferred-address-types=InternalIP",
    ]


def _controllers(folder: Path, programs: Path, keys: _Keys, access: Access) -> list[str | Path]:
    return [
        *(programs / "kube-controller-manager", f"--kubeconfig={access.kubeconfig}", "--leader-elect=false"),
        *(f"--service-account-private-key-file={keys.key}", f"--root-ca-file={keys.authority}"),
        *("--secure-port=0", f"--flex-volume-plugin-dir={folder / 'plugins'}"),
    ]


def _scheduler(programs: Path, access: Access) -> list[str | Path]:
    options = [f"--kubeconfig={access.kubeconfig}", "--leader-elect=false", "--secure-port=0"]
    return [programs / "kube-scheduler", *options]


def _says(url: str, trusted: ssl.SSLContext | None) -> bool:
    try:
        return httpx2.get(url, timeout=_ASK_SECONDS, verify=trusted or True, trust_env=False).is_success
    except httpx2.TransportError:
        return False
