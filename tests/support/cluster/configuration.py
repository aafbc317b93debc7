"""What containerd and the kubelet are told."""

import shutil
from pathlib import Path

from tests.support.cluster import cgroups
from tests.support.cluster.network import Network

#: The image that holds the namespaces of a pod.
PAUSE = "localhost/pause:1"

_CONTAINERD = """version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{pause}"
restrict_oom_score_adj = true
disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{plugins}"
conf_dir = "{networks}"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "{snapshotter}"
default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "{runc}"
SystemdCgroup = false
"""


def containerd_configuration(snapshotter: str, networks: Path, plugins: Path) -> str:
    """Give containerd's file of settings; ``networks`` and ``plugins`` are folders of CNI's."""
    return _CONTAINERD.format(
        pause=PAUSE,
        plugins=plugins,
        networks=networks,
        snapshotter=snapshotter,
        runc=shutil.which("runc"),
    )


def kubelet_configuration(network: Network, port: int, names: Path, plugins: Path) -> dict[str, object]:
    """Give the kubelet's file of settings.

    ``names`` is what pods ask for the addresses of names, ``plugins`` a folder that it makes and looks into.
    """
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": str(network.gateway),
        "port": port,
        "healthzPort": 0,
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "resolvConf": str(names),
        "volumePluginDir": str(plugins),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cgroups.NAME}",
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [],
        "failCgroupV1": False,
        "failSwapOn": False,
        # A machine that has little room left tests as well as any, and nothing can be fetched again.
        "evictionHard": {},
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
    }
